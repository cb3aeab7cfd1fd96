import { AsyncLocalStorage } from 'node:async_hooks';
import { pacedSuite } from './paced-suite.ts';
import {
  afterEntry,
  driverEntry,
  IN_CONTEXT,
  inContextEntry,
  loadsEntry,
  nodeEntry,
  peerEntries,
  RETIMER,
  SHARDWHEEL,
  shardwheelEntry,
} from './subjects.ts';

const RATE = 400_000;
const MINUTE = 60_000;
const subjects = [driverEntry, nodeEntry, shardwheelEntry, afterEntry];

/** (a) Idle timeouts of every length: whose is touched next, nobody knows. */
export const random = pacedSuite({
  name: 'scheduler random',
  title: 'Scheduler: cancel + schedule, random victims, varied durations',
  codes: ['a'],
  about: 'Delays uniform in (0, 60 s].',
  subjects: [...subjects, loadsEntry],
  rate: RATE,
  load: { operation: 'random', span: MINUTE },
});

/** (b) Request timeouts: the request is answered, and its timer with it. */
export const newest = pacedSuite({
  name: 'scheduler newest',
  title: 'Scheduler: cancel + schedule, newest first, varied durations',
  codes: ['b'],
  about:
    'Each slice ends the timers of the one before, the newest first, and starts as many. Delays uniform in (0, 60 s].',
  subjects,
  rate: RATE,
  load: { operation: 'newest', span: MINUTE },
});

/** (c) One list in Node, whose last entries come and go. */
export const equal = pacedSuite({
  name: 'scheduler equal',
  title: "Scheduler: cancel + schedule, newest first, equal durations (Node's best case)",
  codes: ['c'],
  about: 'As (b), with delays of 30 s.',
  subjects,
  rate: RATE,
  load: { operation: 'newest', span: MINUTE / 2, isEqual: true },
});

/** (d) Idle timeouts that are pushed on with each request. */
export const move = pacedSuite({
  name: 'scheduler move',
  title: 'Scheduler: reschedule against refresh(), random victims',
  codes: ['d'],
  about: 'A random timer is moved on by its own delay. Delays uniform in (0, 60 s]; who has fired is started anew.',
  subjects: [driverEntry, nodeEntry, ...peerEntries, shardwheelEntry, afterEntry, loadsEntry],
  rate: RATE,
  load: { operation: 'move', span: MINUTE },
  otherBases: [RETIMER],
});

const storage = new AsyncLocalStorage();

/** What it costs that callbacks run in the context of the call that set them. */
export const contexts = pacedSuite({
  name: 'scheduler contexts',
  title: 'Scheduler: cancel + schedule within an async context',
  codes: ['a'],
  about: 'As (a). Within contexts each slice is one AsyncLocalStorage.run, with an object of its own.',
  subjects: [driverEntry, shardwheelEntry, inContextEntry],
  base: SHARDWHEEL,
  rate: RATE,
  load: { operation: 'random', span: MINUTE },
  around: (subject, perform) => (subject === IN_CONTEXT ? storage.run({ subject }, perform) : perform()),
});

/** (f) How late what fires is, while all that goes on. */
export const lateness = pacedSuite({
  name: 'scheduler lateness',
  title: 'Scheduler: lateness at 400,000 operations per second',
  codes: ['f'],
  about:
    'As (a), at 200,000 pairs: lateness of what fires, from the moment before it was asked for. A timer is early if less ' +
    'than its delay has passed. The clock is read twice per pair, by all.',
  subjects: [driverEntry, nodeEntry, afterEntry],
  rate: RATE / 2,
  load: { operation: 'random', span: MINUTE, measuresLateness: true },
  figures: [
    { key: 'p50', title: 'late p50', unit: 'ms' },
    { key: 'p99', title: 'p99', unit: 'ms' },
    { key: 'p999', title: 'p99.9', unit: 'ms' },
    { key: 'max', title: 'most', unit: 'ms' },
    { key: 'early', title: 'early', unit: 'timers' },
    { key: 'fired', title: 'fired', unit: 'timers', moreIsBetter: true },
  ],
  measure: ({ early, lateness }) => {
    const { count: fired, p50, p99, p999, max } = lateness.summary();
    return { p50, p99, p999, max, early, fired };
  },
});

/** (g) Ten times as much. */
export const flood = pacedSuite({
  name: 'scheduler flood',
  title: 'Scheduler: 4,000,000 operations per second',
  codes: ['g'],
  about: 'As (a), at 2 M pairs. Whoever does not reach the rate takes longer for the same work.',
  subjects,
  rate: 2_000_000,
  load: { operation: 'random', span: MINUTE },
});

/** (i) What threads buy. */
export const shards = pacedSuite({
  name: 'scheduler shards',
  title: 'Scheduler: 0, 1 and 2 shards',
  codes: ['i'],
  about: 'As (a).',
  subjects: [
    driverEntry,
    nodeEntry,
    { name: 'shards 0', note: 'the wheel inline, in the calling thread' },
    { name: 'shards 1' },
    { name: 'shards 2' },
  ],
  rate: RATE,
  load: { operation: 'random', span: MINUTE },
});
