import { block } from '../../engine/figures.ts';
import { figure } from '../../engine/format.ts';
import type { ReleaseResults } from '../../engine/results.ts';
import { replay, replayInContexts } from './replay.ts';
import { describeReplays, medianOf, replaysOf } from './replays.ts';
import { DEFAULT, DRIVER, NODE } from './subjects.ts';

interface Row {
  readonly title: string;
  readonly suite: string;
  readonly key: string;
  /** Whether the driver alone is shown, too: what it takes is not taken off. */
  readonly alone?: boolean;
}

const rows: readonly Row[] = [
  { title: 'event-loop CPU per timer operation, ns', suite: replay.name, key: 'loop' },
  { title: 'CPU of the whole process per timer operation, ns', suite: replay.name, key: 'process' },
  { title: 'memory per live timer, bytes', suite: replay.name, key: 'bytes' },
  { title: "half of the timers come within, ms; the driver's own steps", suite: replay.name, key: 'p50', alone: true },
  { title: "99 of 100 timers come within, ms; the driver's own steps", suite: replay.name, key: 'p99', alone: true },
  {
    title: 'longest time that the event loop stood still, ms; of the driver alone',
    suite: replay.name,
    key: 'block',
    alone: true,
  },
  { title: 'connections per second held', suite: replay.name, key: 'reached' },
  { title: 'timers that came too early', suite: replay.name, key: 'early' },
  { title: 'each step in a context of its own: event-loop CPU, ns', suite: replayInContexts.name, key: 'loop' },
  { title: 'and memory, bytes', suite: replayInContexts.name, key: 'bytes' },
  { title: 'and 99 of 100 come within, ms', suite: replayInContexts.name, key: 'p99' },
];

/** What a proxy at full rate comes to on each release, as a Markdown table: shardwheel / node:timers. */
export function replayFiguresOf(results: ReleaseResults): string {
  const runs = replaysOf(results);
  const heads = runs.map(({ machine }) => `Node ${machine.node.slice(1)}`);
  const cell = ({ alone, key, suite }: Row, run: (typeof runs)[number]): string => {
    const of = (subject: string) => figure(medianOf(run, suite, subject, key));
    const timed = `${of(DEFAULT)} / ${of(NODE)}`;
    return alone ? `${timed}; ${of(DRIVER)}` : timed;
  };
  return block('replay', [
    `${describeReplays(runs)} Each cell is shardwheel / node:timers.`,
    '',
    `| | ${heads.join(' | ')} |`,
    `|---|${heads.map(() => '---:|').join('')}`,
    ...rows.map((row) => `| ${row.title} | ${runs.map((run) => cell(row, run)).join(' | ')} |`),
  ]);
}
