import type { Measurement, Scale, SubjectEntry, Suite } from '../../engine/suite.ts';
import { forkReplay } from '../../replay/fork-replay.ts';
import { parseOptions } from '../../replay/options.ts';
import type { SubjectName } from '../../replay/replay-result.ts';
import { isCorrect, operationsOf } from '../../replay/summary.ts';
import { DEFAULT, DRIVER, driverEntry, NODE, nodeEntry, REPLAY, SHARDS } from './subjects.ts';

/** A replay of the reference run has always lasted so long. */
const FULL = ['--seconds', '10'];
const QUICK = ['--cps', '1000', '--seconds', '0.2', '--drain', '0.1'];

const subjects: Readonly<Record<string, SubjectName>> = { [DRIVER]: 'driver', [NODE]: 'native' };

const autoEntry: SubjectEntry = {
  name: DEFAULT,
  note: 'scheduleAfter() and rescheduleAfter(), as a proxy would; the default',
};

/** (h) What `npm start` shows. */
export const replay = replaySuite(
  {
    name: REPLAY,
    title: 'Scheduler: a proxy at 100,000 connections per second (npm start)',
    about:
      'The replay of npm start: connect, idle, request and TIME-WAIT timeouts for 10 s. The driver alone is as ' +
      'late as its own steps, which it looks for in every turn of the loop.',
    subjects: [
      driverEntry,
      nodeEntry,
      autoEntry,
      { name: `${SHARDS}1` },
      { name: `${SHARDS}0`, note: 'the wheel inline, in the calling thread' },
    ],
  },
  [],
);

/** (h) The same for a program that traces its requests. */
export const replayInContexts = replaySuite(
  {
    name: 'scheduler traced',
    title: 'Scheduler: the same proxy, each step in an async context of its own',
    about: 'As (h), by npm start -- --contexts: each step of a connection runs in an AsyncLocalStorage.run of its own.',
    subjects: [driverEntry, nodeEntry, autoEntry],
  },
  ['--contexts'],
);

function replaySuite(of: Pick<Suite, 'name' | 'title' | 'about' | 'subjects'>, flags: readonly string[]): Suite {
  return {
    ...of,
    codes: ['h'],
    base: NODE,
    idle: DRIVER,
    figures: [
      { key: 'loop', title: 'event-loop CPU', unit: 'ns per operation', net: true },
      { key: 'process', title: 'process CPU', unit: 'ns per operation', net: true },
      { key: 'p50', title: 'late p50', unit: 'ms' },
      { key: 'p99', title: 'p99', unit: 'ms' },
      { key: 'p999', title: 'p99.9', unit: 'ms' },
      { key: 'most', title: 'most', unit: 'ms' },
      { key: 'early', title: 'early', unit: 'timers' },
      { key: 'block', title: 'longest block', unit: 'ms' },
      { key: 'bytes', title: 'resident growth at peak', unit: 'B/live timer', net: true },
      { key: 'reached', title: 'reached', unit: 'conn/s', moreIsBetter: true },
    ],
    run: (name, scale) => measure(name, scale, flags),
  };
}

async function measure(name: string, scale: Scale, flags: readonly string[]): Promise<Measurement> {
  const shards = name.startsWith(SHARDS) ? ['--shards', name.slice(SHARDS.length)] : [];
  const options = parseOptions([...(scale.quick ? QUICK : FULL), ...flags, ...shards]);
  if (options === undefined) throw new Error('the replay has no options');
  const { signal } = new AbortController();
  const run = await forkReplay(subjects[name] ?? 'shardwheel', options, signal, () => undefined);
  const { result } = run;
  if (subjects[name] === undefined && !isCorrect(run))
    throw new Error(`the replay went wrong: ${JSON.stringify(result.verdict)}`);
  const { cpu, memory, longestBlock, reached } = result;
  const { early, lateness } = result.verdict;
  const operations = operationsOf(result);
  const figures: Record<string, number> = {
    loop: (cpu.thread * 1e6) / operations,
    process: (cpu.process * 1e6) / operations,
    block: longestBlock,
    bytes: (memory.peak - memory.rest) / memory.live,
    reached,
    p50: lateness.p50,
    p99: lateness.p99,
    p999: lateness.p999,
    most: lateness.max,
  };
  if (name !== DRIVER) figures.early = early;
  return { figures, checksums: {} };
}
