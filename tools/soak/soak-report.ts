import Table from 'cli-table3';
import { count, mebibytes, milliseconds } from '../../bench/replay/format.ts';
import type { Sample } from './drift.ts';
import type { SoakResult } from './soak.ts';

/** The result as a table, and what is wrong below it. */
export function renderSoakReport(result: SoakResult): string {
  const { verdict, crashes, samples } = result;
  const first = samples[Math.floor(samples.length / 3)];
  const last = samples.at(-1);
  const span = (of: (sample: Sample) => string): string =>
    first === undefined || last === undefined ? 'not looked at' : `${of(first)} → ${of(last)}`;
  const late = verdict.lateness;
  const table = new Table({ style: { head: [], border: [] } });
  table.push(
    ['run', `${(result.seconds / 60).toFixed(1)} min, ${result.options.shards} shards, seed ${result.options.seed}`],
    ['connections', `${count(result.connections)}, ${count(result.connections / result.seconds)} per second`],
    ['timers armed / moved / cancelled', [result.armed, result.moved, result.cancelled].map(count).join(' / ')],
    ['most live at a time', count(result.peakLive)],
    ['delivered / handed back', `${count(verdict.fired)} / ${count(verdict.handedBack)}`],
    [
      'early / lost / doubled / refused',
      [verdict.early, verdict.lost, verdict.doubled, verdict.refused].map(count).join(' / '),
    ],
    [
      'threads ended',
      Object.entries(crashes)
        .map(([kind, times]) => `${kind} ${times}`)
        .join(', '),
    ],
    ['threads replaced', count(result.restarts)],
    ['clients', `${result.options.clients}, threads ended ${result.clientsEnded}`],
    ['event loop blocked', `${count(result.blocks)} times, ${result.blocked.toFixed(1)} s in all`],
    ['bursts', count(result.bursts)],
    ['lateness p50 / p99 / max', `${[late.p50, late.p99, late.max].map(milliseconds).join(' / ')} ms`],
    ['most behind the plan', `${milliseconds(result.longestLag)} ms`],
    ['resident memory, MiB', span(({ rss }) => mebibytes(rss))],
    ['live timers', span(({ live }) => count(live))],
    ['table slots used', span(({ highWater }) => count(highWater))],
    ['wheel entries', span(({ filed }) => count(filed))],
    ['handles / threads', span(({ handles, threads }) => `${handles} / ${threads}`)],
  );
  const faults = result.faults.map((fault) => `  ${fault}`);
  const end = faults.length === 0 ? 'Nothing lost.' : `FAILED\n${faults.join('\n')}`;
  return `${table.toString()}\nArrows lead from the end of the first third to the end.\n${end}`;
}
