import type { Comparison } from './engine/comparison.ts';
import type { Spread } from './engine/statistics.ts';
import type { Target } from './engine/target.ts';
import { ID_YARDSTICK } from './subjects/id-yardstick.ts';
import { AUTO } from './suites/scheduler/auto.ts';
import { DEFAULT, IN_CONTEXT, NODE, REPLAY, RETIMER, SHARDWHEEL } from './suites/scheduler/subjects.ts';

export interface Verdict {
  readonly target: Target;
  readonly measured: Spread | undefined;
  /** By the median. */
  readonly state: 'met' | 'NOT MET' | 'not measured';
}

type Bound = Omit<Target, 'title' | 'of'>;

/** Of a subject's own value. */
const own = (title: string, bound: Bound): Target => ({ title, ...bound, of: bound.subject });

/** Of a subject's value by the base's, within the same run. */
const ratio = (title: string, bound: Omit<Bound, 'unit' | 'base'>, base: string): Target => ({
  title,
  ...bound,
  base,
  unit: '',
  of: `${bound.subject} / ${base}`,
});

const native = (title: string, suite: string, figure: string, most: number, subject = SHARDWHEEL): Target =>
  ratio(title, { suite, subject, figure, most }, NODE);

const wheel = (title: string, suite: string, figure: string, most: number): Target =>
  ratio(title, { suite, subject: 'default', figure, most }, ID_YARDSTICK);

const replay = (title: string, figure: string, most: number, unit: string): Target =>
  own(`(h) a proxy with 100,000 connections a second: ${title}`, {
    suite: REPLAY,
    subject: DEFAULT,
    figure,
    most,
    unit,
  });

const replayRatio = (title: string, figure: string, most: number): Target =>
  native(`(h) a proxy with 100,000 connections a second: ${title}`, REPLAY, figure, most, DEFAULT);

/** What a program notices, on two cores. Each title begins with the code of its suite. */
export const targets: readonly Target[] = [
  replayRatio('event-loop CPU of its timers', 'loop', 0.33),
  replayRatio('CPU of the whole process', 'process', 0.33),
  replay('99 of 100 timers come within', 'p99', 1.5, 'ms'),
  replay('999 of 1,000 come within', 'p999', 4, 'ms'),
  replayRatio("the same, of Node's", 'p999', 1),
  replay('all come within', 'most', 8, 'ms'),
  replay('timers that come early', 'early', 0, 'timers'),
  replay('the longest time for which no socket is served', 'block', 4, 'ms'),
  replay('memory of a live timer, everything included', 'bytes', 64, 'B'),
  native(
    '(a) a request sets a timeout and clears it, any of a million: event-loop CPU',
    'scheduler random',
    'loop',
    0.2,
  ),
  ratio(
    '(a) the same, where a program has async contexts',
    { suite: 'scheduler contexts', subject: IN_CONTEXT, figure: 'loop', most: 1.2 },
    SHARDWHEEL,
  ),
  native(
    '(b) the newest timeout is cleared first, as after a quick answer: event-loop CPU',
    'scheduler newest',
    'loop',
    0.1,
  ),
  native("(c) the same with equal timeouts, Node's best case", 'scheduler equal', 'loop', 0.5),
  native('(d) an idle timeout moves with each packet: event-loop CPU', 'scheduler move', 'loop', 0.25),
  ratio('(d) the same', { suite: 'scheduler move', subject: SHARDWHEEL, figure: 'loop', most: 0.4 }, RETIMER),
  own('(e) a million timers come due at once: the longest time for which no socket is served', {
    suite: 'scheduler burst',
    subject: SHARDWHEEL,
    figure: 'block',
    most: 4,
    unit: 'ms',
  }),
  native('(e) the same: time to the last of them', 'scheduler burst', 'last', 0.3),
  own(
    "(auto) a million timers of which random ones are cleared and set: threads that 'auto' starts, as inline costs less",
    {
      suite: 'auto many',
      subject: AUTO,
      figure: 'threads',
      most: 0,
      unit: 'threads',
    },
  ),
  ratio(
    '(j) two event loops on one shard at their highest rate: time of a pair',
    { suite: 'clients loops', subject: '2 loops, 1 shard', figure: 'each', most: 1 / 2.2 },
    '1 loop, 1 shard',
  ),
  own('(p) memory of a scheduler that has served its first timer, without a thread', {
    suite: 'loading threads',
    subject: 'an inline scheduler',
    figure: 'memory',
    most: 4,
    unit: 'MB',
  }),
  own('(p) memory of a shard on a thread, beyond that of a thread', {
    suite: 'loading threads',
    subject: '8 shards',
    figure: 'beyond',
    most: 3,
    unit: 'MB',
  }),
  wheel('W1 a wheel takes a timer', 'wheel churn', 'W1', 1.3),
  wheel('W2 a wheel of a million cancels a timer and takes another', 'wheel churn', 'W2', 1.15),
  wheel('W3 a wheel fires a timer', 'wheel fire', 'W3', 0.5),
  ratio(
    'durable: writes to the store, for timers that are cancelled young',
    { suite: 'durable connections', subject: 'shardwheel on BullMQ, young timers', figure: 'writes', most: 0.1 },
    'BullMQ alone',
  ),
  own('durable: a million are overdue at a start: the longest time for which no socket is served', {
    suite: 'durable million',
    subject: 'shardwheel on LMDB',
    figure: 'block',
    most: 20,
    unit: 'ms',
  }),
];

/** Judges every target whose suite was run. */
export function judge(comparisons: readonly Comparison[]): Verdict[] {
  return targets.flatMap((target) => {
    const comparison = comparisons.find(({ suite }) => suite === target.suite);
    if (comparison === undefined) return [];
    const row = comparison.rows.find(({ subject, figure }) => subject === target.subject && figure === target.figure);
    const { base = comparison.base, most, unit } = target;
    const ratio = base === comparison.base ? row?.ratio : row?.otherRatios?.[base];
    const measured = unit === '' ? ratio : row?.value;
    const state = measured === undefined ? 'not measured' : measured.median <= most ? 'met' : 'NOT MET';
    return [{ target, measured, state }];
  });
}
