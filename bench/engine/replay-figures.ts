import { count, milliseconds } from '../replay/format.ts';
import type { ReplayResult } from '../replay/replay-result.ts';
import type { Summary, TimedRun } from '../replay/summary.ts';
import { block } from './figures.ts';

/** The replays of one release of Node: as `npm start` runs by default, and with `--contexts`. */
export interface ReleaseReplays {
  readonly plain: Summary;
  readonly contexts: Summary;
}

/** Releases of Node whose replays are shown; the first is the reference. */
export const releases = [24, 20, 22, 26] as const;

/** Where the replays of a release are kept, from the project's root. */
export const replayFiles = (release: number): Readonly<Record<keyof ReleaseReplays, string>> => ({
  plain: `bench/results/replay-${release}.json`,
  contexts: `bench/results/replay-${release}-contexts.json`,
});

/**
 * The columns on timers that a replay has, in the order of a cell, and what they are called. Older results have no
 * `shards` of their own.
 */
function timedRuns({ native, options, shards, shardwheel }: Summary): [title: string, run: TimedRun][] {
  if (shardwheel === undefined || native === undefined) {
    throw new Error('the replay was run without a column that is shown: take it anew');
  }
  return [
    [shards === undefined ? 'shardwheel' : 'shardwheel inline', shardwheel],
    ...(shards === undefined ? [] : [[shardsTitle(options), shards] as [string, TimedRun]]),
    ['node:timers', native],
  ];
}

function shardsTitle({ loops, shards, threads }: Summary['options']): string {
  const on = loops === threads ? '' : ` on ${loops} event loops`;
  return `${shards} shard${shards === 1 ? '' : 's'}${on}`;
}

interface Row {
  readonly title: string;
  readonly of: keyof ReleaseReplays;
  readonly value: (run: TimedRun) => string;
  /** Of the driver alone, if that says something. */
  readonly alone?: (driver: ReplayResult) => string;
}

const lateness = (title: string, key: 'p50' | 'p99'): Row => {
  const value = ({ verdict }: ReplayResult) => milliseconds(verdict.lateness[key]);
  return { title: `lateness ${title}, ms; of the driver's own steps`, of: 'plain', value, alone: value };
};

const rows: readonly Row[] = [
  { title: 'event-loop CPU per timer operation, ns', of: 'plain', value: (run) => count(run.cost.perOperation) },
  { title: 'resident memory per live timer, bytes', of: 'plain', value: (run) => count(run.cost.perLiveTimer) },
  lateness('p50', 'p50'),
  lateness('p99', 'p99'),
  {
    title: 'longest event-loop block, ms; of the driver alone',
    of: 'plain',
    value: (run) => milliseconds(run.longestBlock),
    alone: (driver) => milliseconds(driver.longestBlock),
  },
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
  const titles = timedRuns(plain).map(([title]) => title);
  const heads = replays.map(({ plain }) => `Node ${plain.machine.node.slice(1)}`);
  const cell = (row: Row, replay: ReleaseReplays): string => {
    const of = replay[row.of];
    const values = timedRuns(of).map(([, run]) => row.value(run));
    const timed = values.join(' / ');
    return row.alone === undefined ? timed : `${timed}; ${row.alone(of.driver)}`;
  };
  const served = plain.shards ? '' : `, \`--shards ${plain.options.shards}\``;
  return block('replay', [
    `On ${cpus} shared × ${model}${served}: ${titles.join(' / ')}.`,
    '',
    `| | ${heads.join(' | ')} |`,
    `|---|${replays.map(() => '---:|').join('')}`,
    ...rows.map((row) => `| ${row.title} | ${replays.map((replay) => cell(row, replay)).join(' | ')} |`),
  ]);
}
