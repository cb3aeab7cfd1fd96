import type { Comparison } from './engine/comparison.ts';
import type { Spread } from './engine/statistics.ts';
import type { Target } from './engine/target.ts';
import { ID_YARDSTICK } from './subjects/subjects.ts';

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

const native = (title: string, suite: string, figure: string, most: number, subject = 'shardwheel'): Target =>
  ratio(title, { suite, subject, figure, most }, 'node:timers');

const wheel = (title: string, suite: string, figure: string, most: number): Target =>
  ratio(title, { suite, subject: 'default', figure, most }, ID_YARDSTICK);

/** What a program notices, on two cores. Each title begins with the code of its suite. */
export const targets: readonly Target[] = [
  native('(a) a request sets a timeout and clears it: event-loop CPU', 'scheduler random', 'loop', 0.2),
  native('(a) the same: CPU of the whole process', 'scheduler random', 'process', 0.3),
  native(
    '(b) the newest timeout is cleared first, as after a quick answer: event-loop CPU',
    'scheduler newest',
    'loop',
    0.1,
  ),
  native('(d) an idle timeout moves with each packet: event-loop CPU', 'scheduler move', 'loop', 0.2),
  own('(e) a million timers come due at once: the longest time for which no socket is served', {
    suite: 'scheduler burst',
    subject: 'shardwheel',
    figure: 'block',
    most: 5,
    unit: 'ms',
  }),
  own('(f) 99 of 100 timers come within', {
    suite: 'scheduler lateness',
    subject: 'shardwheel, after',
    figure: 'p99',
    most: 2,
    unit: 'ms',
  }),
  own('(f) timers that come early', {
    suite: 'scheduler lateness',
    subject: 'shardwheel, after',
    figure: 'early',
    most: 0,
    unit: 'timers',
  }),
  native(
    '(h) a proxy with 100,000 connections a second: event-loop CPU of its timers',
    'scheduler replay',
    'loop',
    0.35,
    'shards 1',
  ),
  own('memory of a live timer, everything included', {
    suite: 'scheduler memory',
    subject: 'shardwheel',
    figure: 'rss',
    most: 56,
    unit: 'B',
  }),
  wheel('W1 a wheel takes a timer', 'wheel churn', 'W1', 1.3),
  wheel('W2 a wheel of a million cancels a timer and takes another', 'wheel churn', 'W2', 1),
  wheel('W3 a wheel fires a timer', 'wheel fire', 'W3', 0.6),
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
