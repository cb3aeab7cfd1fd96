import * as node from 'node:timers';
import { createScheduler } from 'shardwheel';
import * as shardwheel from 'shardwheel/timers';

/** The same test body runs on each of these: what Node does is right. */
interface Subject {
  readonly name: string;
  readonly timers: shardwheel.Timers;
}

const inline = shardwheel.createTimers(createScheduler({ shards: 0, capacity: 2 ** 18 }));

export const subjects: Subject[] = [
  { name: 'node:timers', timers: node },
  { name: 'shardwheel/timers', timers: shardwheel },
  { name: 'shardwheel inline', timers: inline },
];

const { native } = await import(new URL('../../lib/chunks/base.js', import.meta.url).href);

/** Node's own functions, also where those that a program finds are others. */
export const own: typeof node & { promises: shardwheel.Timers['promises'] } = {
  ...native.timers,
  promises: native.promises,
};
