import type { SubjectEntry } from '../../engine/suite.ts';
import type { OnFire, Subject } from '../../replay/subjects/subject.ts';

export const DRIVER = 'driver alone';
export const NODE = 'node:timers';
export const INLINE = 'inline';
export const SHARD = '1 shard';
export const DROP_IN = 'drop-in';
export const REGISTERED = 'registered';

export const rateSubjects: readonly SubjectEntry[] = [
  { name: DRIVER, note: 'the same program without timers, keeping a number for each' },
  { name: NODE, note: 'setTimeout with an argument, clearTimeout, refresh' },
  { name: INLINE, note: 'scheduleAfter() with a number for its argument; no thread' },
  { name: SHARD, note: 'the same on a thread' },
  { name: DROP_IN, note: "setTimeout of 'shardwheel/timers'" },
  { name: REGISTERED, note: 'the global setTimeout with --import shardwheel/register' },
];

/** What Node is started with for a subject. */
export const flagsOf = (name: string): string[] => (name === REGISTERED ? ['--import', 'shardwheel/register'] : []);

/** Timers numbered 0 .. handles - 1. Each subject's code is imported here, so that the others do without it. */
export async function createRateTimers(name: string, handles: number, onFire: OnFire): Promise<Subject> {
  switch (name) {
    case DRIVER: {
      const { NoTimers } = await import('../../replay/subjects/no-timers.ts');
      return new NoTimers(handles);
    }
    case INLINE:
    case SHARD: {
      const { createScheduler } = await import('shardwheel');
      const { ShardwheelTimers } = await import('../../replay/subjects/shardwheel-timers.ts');
      return new ShardwheelTimers(handles, onFire, createScheduler({ shards: name === SHARD ? 1 : 0 }));
    }
    default: {
      const { FaceTimers } = await import('./face-timers.ts');
      return new FaceTimers(name === DROP_IN ? await import('shardwheel/timers') : globalThis, handles, onFire);
    }
  }
}
