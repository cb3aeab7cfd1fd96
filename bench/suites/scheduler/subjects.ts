import { createScheduler, type Scheduler } from 'shardwheel';
import type { SubjectEntry } from '../../engine/suite.ts';
import { NativeTimers } from '../../replay/subjects/native-timers.ts';
import { NoTimers } from '../../replay/subjects/no-timers.ts';
import { ShardwheelBatches, ShardwheelDeadlines, ShardwheelTimers } from '../../replay/subjects/shardwheel-timers.ts';
import type { OnFire, Subject } from '../../replay/subjects/subject.ts';
import { CONNECT } from '../../replay/timer-kind.ts';
import { BareLoads } from '../../subjects/bare-loads.ts';
import { RefreshableTimers, retimer, timeoutRefresh } from '../../subjects/refreshable-timers.ts';

export const DRIVER = 'driver alone';
export const NODE = 'node:timers';
export const SHARDWHEEL = 'shardwheel';
export const RETIMER = 'retimer';
const LOADS = 'loads alone';
const TIMEOUT_REFRESH = 'timeout-refresh';
const AFTER = 'shardwheel, after';
export const IN_CONTEXT = 'shardwheel, in contexts';
const BATCH = 'shardwheel, batch';

/** The suite of a proxy, and its subject that `createScheduler()` comes to without options. */
export const REPLAY = 'scheduler replay';
export const SHARDS = 'shards ';
export const DEFAULT = `${SHARDS}auto`;

/** The subject named `shards n` has that many, any other the one that `'auto'` comes to when it pays. */
const shardsOf = (name: string): number => (name.startsWith(SHARDS) ? Number(name.slice(SHARDS.length)) : 1);

/** The subject named `slack n` has one shard, that named `slack n, inline` none. */
const SLACK = /^slack (\d+)(, inline)?$/;

export const driverEntry: SubjectEntry = { name: DRIVER, note: 'the same driver, keeping a number per timer' };
export const nodeEntry: SubjectEntry = { name: NODE, note: 'setTimeout with an argument, clearTimeout, refresh' };
export const shardwheelEntry: SubjectEntry = {
  name: SHARDWHEEL,
  note: '1 shard; deadlines by schedule() and reschedule() on a now() read once per slice',
};
export const afterEntry: SubjectEntry = {
  name: AFTER,
  note: 'the same by scheduleAfter() and rescheduleAfter(), which read the clock in each call',
};
export const inContextEntry: SubjectEntry = { name: IN_CONTEXT, note: 'the same, within contexts' };
export const batchEntry: SubjectEntry = {
  name: BATCH,
  note: "no callback, no argument: timers arrive in 'fired' batches",
};

export const loadsEntry: SubjectEntry = {
  name: LOADS,
  note: 'what the calls of a shardwheel read and write at random, and nothing else',
};

/** Packages that move a timer of Node's. */
export const peerEntries: readonly SubjectEntry[] = [
  { name: RETIMER, note: "moves when Node's timeout comes: aedes and MQTT.js keep connections alive with it" },
  { name: TIMEOUT_REFRESH, note: 'an object around refresh()' },
];

const KIND = CONNECT;

/** A subject for timers of one kind, numbered 0 .. handles - 1, each of which is its own handle and hint. */
export function createSubject(name: string, handles: number, onFire: (timer: number) => void): Subject {
  if (name === DRIVER) return new NoTimers(handles);
  if (name === LOADS) return new BareLoads(handles);
  const fired: OnFire = (_kind, timer) => onFire(timer);
  if (name === NODE) return new NativeTimers(fired);
  if (name === RETIMER) return new RefreshableTimers(retimer(), handles, fired);
  if (name === TIMEOUT_REFRESH) return new RefreshableTimers(timeoutRefresh(), handles, fired);
  const slack = SLACK.exec(name);
  if (slack !== null) {
    const scheduler = createScheduler({ shards: slack[2] === undefined ? 1 : 0, slack: Number(slack[1]) });
    return new ShardwheelTimers(handles, fired, scheduler);
  }
  const scheduler = createScheduler({ shards: shardsOf(name) });
  if (name === AFTER) return new ShardwheelTimers(handles, fired, scheduler);
  if (name === BATCH) return new ShardwheelBatches(handles, fired, scheduler);
  return new ShardwheelDeadlines(handles, fired, scheduler);
}

/** Arms a timer of such a subject. Precondition: it is not live. */
export const start = (subject: Subject, timer: number, delay: number): void =>
  subject.arm(KIND, timer, timer, delay, timer);

/** A subject that is a given scheduler. */
export const timersOf = (scheduler: Scheduler, handles: number, onFire: (timer: number) => void): Subject =>
  new ShardwheelTimers(handles, (_kind, timer) => onFire(timer), scheduler);
