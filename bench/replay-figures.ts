import { count, milliseconds } from '../replay/format.ts';
import type { Summary } from '../replay/summary.ts';
import { block } from './figures.ts';

/** The replays of one release of Node: as `npm start` runs by default, and with `--contexts`. */
export interface ReleaseReplays {
  readonly plain: Summary;
  readonly contexts: Summary;
}

/** Releases of Node whose replays the README shows; the first is the reference. */
export const releases = [24, 20, 22, 26] as const;

/** Where the replays of a release are kept, from the project's root. */
export const replayFiles = (release: number): Readonly<Record<keyof ReleaseReplays, string>> => ({
  plain: `bench/results/replay-${release}.json`,
  contexts: `bench/results/replay-${release}-contexts.json`,
});

type Run = NonNullable<Summary['native']>;

interface Row {
  readonly title: string;
  readonly of: keyof ReleaseReplays;
  readonly value: (run: Run) => string;
}

const rows: readonly Row[] = [
  { title: 'event-loop CPU per timer operation, ns', of: 'plain', value: (run) => count(run.cost.perOperation) },
  { title: 'resident memory per live timer, bytes', of: 'plain', value: (run) => count(run.cost.perLiveTimer) },
  { title: 'lateness p50, ms', of: 'plain', value: (run) => milliseconds(run.verdict.lateness.p50) },
  { title: 'lateness p99, ms', of: 'plain', value: (run) => milliseconds(run.verdict.lateness.p99) },
  { title: 'longest event-loop block, ms', of: 'plain', value: (run) => milliseconds(run.longestBlock) },
  { title: 'whole-process CPU on timers, ms', of: 'plain', value: (run) => count(run.cost.processCpu) },
  { title: 'connections per second held', of: 'plain', value: (run) => count(run.reached) },
  { title: 'early', of: 'plain', value: (run) => count(run.verdict.early) },
  { title: 'lost and doubled', of: 'plain', value: (run) => count(run.verdict.lost + run.verdict.doubled) },
  { title: 'each step in a context of its own: CPU, ns', of: 'contexts', value: (run) => count(run.cost.perOperation) },
  { title: 'and memory, bytes', of: 'contexts', value: (run) => count(run.cost.perLiveTimer) },
];

/** What `npm start` came to on each release, as a Markdown table: shardwheel / node:timers. */
export function replayFiguresOf(replays: readonly ReleaseReplays[]): string {
  const [{ plain }] = replays;
  const { cpus, model } = plain.machine;
  const cell = (row: Row, replay: ReleaseReplays): string => {
    const { shardwheel, native } = replay[row.of];
    return native === undefined ? row.value(shardwheel) : `${row.value(shardwheel)} / ${row.value(native)}`;
  };
  return block('replay', [
    `On ${cpus} shared × ${model}, \`--shards ${plain.options.shards}\`: shardwheel / node:timers.`,
    '',
    `| | ${replays.map(({ plain }) => `Node ${plain.machine.node.slice(1)}`).join(' | ')} |`,
    `|---|${replays.map(() => '---:|').join('')}`,
    ...rows.map((row) => `| ${row.title} | ${replays.map((replay) => cell(row, replay)).join(' | ')} |`),
  ]);
}
