import { block } from './figures.ts';
import { figure } from './format.ts';
import { DRIVER, describeReplays, IN_CONTEXTS, medianOf, NODE, OURS, REPLAY, replaysOf } from './replays.ts';
import type { ReleaseResults } from './results.ts';

interface Row {
  readonly title: string;
  readonly suite: string;
  readonly key: string;
  /** Whether the driver alone is shown, too: what it takes is not taken off. */
  readonly alone?: boolean;
}

const rows: readonly Row[] = [
  { title: 'event-loop CPU per timer operation, ns', suite: REPLAY, key: 'loop' },
  { title: 'CPU of the whole process per timer operation, ns', suite: REPLAY, key: 'process' },
  { title: 'memory per live timer, bytes', suite: REPLAY, key: 'bytes' },
  { title: "half of the timers come within, ms; the driver's own steps", suite: REPLAY, key: 'p50', alone: true },
  { title: "99 of 100 timers come within, ms; the driver's own steps", suite: REPLAY, key: 'p99', alone: true },
  {
    title: 'longest time that the event loop stood still, ms; of the driver alone',
    suite: REPLAY,
    key: 'block',
    alone: true,
  },
  { title: 'connections per second held', suite: REPLAY, key: 'reached' },
  { title: 'timers that came too early', suite: REPLAY, key: 'early' },
  { title: 'each step in a context of its own: event-loop CPU, ns', suite: IN_CONTEXTS, key: 'loop' },
  { title: 'and memory, bytes', suite: IN_CONTEXTS, key: 'bytes' },
  { title: 'and 99 of 100 come within, ms', suite: IN_CONTEXTS, key: 'p99' },
];

/** What a proxy at full rate comes to on each release, as a Markdown table: shardwheel / node:timers. */
export function replayFiguresOf(results: ReleaseResults): string {
  const runs = replaysOf(results);
  const heads = runs.map(({ machine }) => `Node ${machine.node.slice(1)}`);
  const cell = ({ alone, key, suite }: Row, run: (typeof runs)[number]): string => {
    const of = (subject: string) => figure(medianOf(run, suite, subject, key));
    const timed = `${of(OURS)} / ${of(NODE)}`;
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
