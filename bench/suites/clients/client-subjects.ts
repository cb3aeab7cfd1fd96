import { connectScheduler, createScheduler, type SchedulerHandle } from 'shardwheel';
import type { SubjectEntry } from '../../engine/suite.ts';
import { NativeTimers } from '../../replay/subjects/native-timers.ts';
import { NoTimers } from '../../replay/subjects/no-timers.ts';
import { ShardwheelTimers } from '../../replay/subjects/shardwheel-timers.ts';
import type { OnFire, Subject } from '../../replay/subjects/subject.ts';

const DRIVER = 'driver alone';
const NODE = 'node:timers';
const INLINE = 'inline';

/** The subjects: each on a number of event loops, with a number of shards that they share. */
export interface ClientsSubject {
  readonly name: string;
  readonly loops: number;
  /** Undefined where each loop has timers of its own. */
  readonly shards: number | 'auto' | undefined;
  readonly timers: string;
}

const notes: Readonly<Record<string, string>> = {
  [DRIVER]: 'the same driver, keeping a number per timer; its share is taken off the figures of as many loops',
  [NODE]: 'each loop its own',
  [INLINE]: 'createScheduler({ shards: 0 }) in each loop',
};

const nameOf = (loops: number, timers: string): string => `${loops} ${loops === 1 ? 'loop' : 'loops'}, ${timers}`;
const shared = (shards: number | 'auto'): string =>
  shards === 'auto' ? "shards: 'auto'" : `${shards} ${shards === 1 ? 'shard' : 'shards'}`;

export const subjects: readonly ClientsSubject[] = [1, 2, 4].flatMap((loops) => [
  ...[DRIVER, NODE, INLINE].map((timers) => ({ name: nameOf(loops, timers), loops, shards: undefined, timers })),
  ...([1, 2, 'auto'] as const).map((shards) => ({
    name: nameOf(loops, shared(shards)),
    loops,
    shards,
    timers: shared(shards),
  })),
]);

export const entries: readonly SubjectEntry[] = subjects.map(({ name, loops, timers }) => {
  const idle = timers === DRIVER ? {} : { idle: nameOf(loops, DRIVER) };
  return loops === 1 && notes[timers] !== undefined ? { name, note: notes[timers], ...idle } : { name, ...idle };
});

/** The timers of one event loop; the handle is that of the scheduler which all of them share. */
export function createClient(
  timers: string,
  handle: SchedulerHandle | undefined,
  handles: number,
  onFire: OnFire,
): Subject {
  if (handle !== undefined) return new ShardwheelTimers(handles, onFire, connectScheduler(handle));
  if (timers === DRIVER) return new NoTimers(handles);
  if (timers === NODE) return new NativeTimers(onFire);
  return new ShardwheelTimers(handles, onFire, createScheduler({ shards: 0 }));
}
