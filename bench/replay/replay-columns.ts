import type { Options, ReplayOptions } from './options.ts';
import type { SubjectName } from './replay-result.ts';

/**
 * What a column is called in results. `shardwheel`: inline. `loops`: the driver on as many event loops as `shards` has.
 */
export type ColumnName = 'driver' | 'shardwheel' | 'loops' | 'shards' | 'native';

/** One replay of the command: a column of its table. */
export interface ReplayColumn {
  readonly name: ColumnName;
  readonly subject: SubjectName;
  readonly options: ReplayOptions;
  /** The lines of its head. */
  readonly head: readonly string[];
  /** The column of the driver alone, on as many event loops: what it takes is no cost of timers. */
  readonly base: 'driver' | 'loops';
}

/** The replays that the options ask for, in the order of their turns. */
export function replayColumns(options: Options): ReplayColumn[] {
  const { inline, loops, native, shards, threads } = options;
  const columns: ReplayColumn[] = [driverOf('driver', options)];
  if (inline) {
    const head = ['shardwheel', 'inline'];
    const alone = { ...options, shards: 0 };
    columns.push({ name: 'shardwheel', subject: 'shardwheel', options: alone, head, base: 'driver' });
  }
  if (shards !== 0) {
    const base = loops === threads ? 'driver' : 'loops';
    const shared = { ...options, threads: loops };
    const onLoops = base === 'loops' ? [counted(loops, 'event loop')] : [];
    const head = ['shardwheel', shards === 'auto' ? 'shards: auto' : counted(shards, 'shard'), ...onLoops];
    if (base === 'loops') columns.push(driverOf(base, shared, onLoops));
    columns.push({ name: 'shards', subject: 'shardwheel', options: shared, head, base });
  }
  if (native) columns.push({ name: 'native', subject: 'native', options, head: ['node:timers'], base: 'driver' });
  return columns;
}

/** What a column is called in a sentence. */
export const titleOf = ({ head }: ReplayColumn): string => head.join(', ');

function driverOf(name: 'driver' | 'loops', options: ReplayOptions, more: readonly string[] = []): ReplayColumn {
  return { name, subject: 'driver', options, head: ['driver alone', ...more], base: name };
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
