import * as node from 'node:timers';
import { createScheduler } from 'shardwheel';
import * as shardwheel from 'shardwheel/timers';

/** The same test body runs on each of these: what Node does is right. */
export interface Subject {
  readonly name: string;
  readonly timers: shardwheel.Timers;
}

const inline = shardwheel.createTimers(createScheduler({ shards: 0, capacity: 2 ** 18 }));

export const subjects: readonly Subject[] = [
  { name: 'node:timers', timers: node },
  { name: 'shardwheel/timers', timers: shardwheel },
  { name: 'shardwheel inline', timers: inline },
];

/** The two modules, for tests in processes of their own. */
export const modules = ['node:timers', 'shardwheel/timers'] as const;
