import { presets } from '../src/wheel/presets.ts';
import { clientsTargets } from './clients/clients.ts';
import type { Comparison } from './comparison.ts';
import { durableTargets } from './durable/durable-suites.ts';
import { faceTargets } from './faces/face-suites.ts';
import { linearTargets } from './linear/linear-suites.ts';
import { loadingTargets } from './loading/loading-suites.ts';
import type { Spread } from './statistics.ts';
import type { Target } from './target.ts';
import { BARE_HANDLER, BARE_LOADS, ENGINE, ID_YARDSTICK, YARDSTICK } from './wheel/subjects.ts';

export interface Verdict {
  readonly target: Target;
  readonly measured: Spread | undefined;
  /** By the median. */
  readonly state: 'met' | 'NOT MET' | 'not measured';
}

const engine = (figure: string, title: string, suite: string, most: number): Target => ({
  title: `${title}, engine`,
  suite,
  subject: ENGINE,
  figure,
  most,
  unit: '',
  of: `${ENGINE} / ${YARDSTICK}`,
});

const against = (
  base: string,
  subject: string,
  figure: string,
  title: string,
  suite: string,
  most: number,
): Target => ({
  title,
  suite,
  subject,
  figure,
  most,
  unit: '',
  base,
  of: `${subject} wheel / ${base}`,
});

const byId = (figure: string, title: string, suite: string, most: number): Target =>
  against(ID_YARDSTICK, 'default', figure, title, suite, most);

const presetNames = Object.keys(presets).filter((name) => name !== 'default');

const own = (title: string, suite: string, subject: string, figure: string, most: number, unit: string): Target => ({
  title,
  suite,
  subject,
  figure,
  most,
  unit,
  of: subject,
});

const native = (title: string, suite: string, subject: string, figure: string, most: number): Target => ({
  title,
  suite,
  subject,
  figure,
  most,
  unit: '',
  of: `${subject} / node:timers`,
});

/** What this project has set itself, on two cores. */
export const targets: readonly Target[] = [
  native('(a) event-loop CPU per cancel + schedule', 'scheduler random', 'shardwheel', 'loop', 0.2),
  native('(a) whole-process CPU', 'scheduler random', 'shardwheel', 'process', 0.3),
  native('(a) event-loop CPU, inline', 'scheduler shards', 'shards 0', 'loop', 0.3),
  native('(a) whole-process CPU, inline', 'scheduler shards', 'shards 0', 'process', 0.3),
  native('(b) event-loop CPU, newest first', 'scheduler newest', 'shardwheel', 'loop', 0.1),
  native('(c) event-loop CPU, equal durations', 'scheduler equal', 'shardwheel', 'loop', 0.5),
  native('(d) reschedule against refresh()', 'scheduler move', 'shardwheel', 'loop', 0.2),
  own('(e) longest block, 1 M due at once', 'scheduler burst', 'shardwheel', 'block', 5, 'ms'),
  native('(e) time to the last', 'scheduler burst', 'shardwheel', 'last', 2),
  own('(f) lateness p99', 'scheduler lateness', 'shardwheel, after', 'p99', 2, 'ms'),
  own('(f) lateness p99.9', 'scheduler lateness', 'shardwheel, after', 'p999', 5, 'ms'),
  own('(f) early', 'scheduler lateness', 'shardwheel, after', 'early', 0, 'timers'),
  native('(h) npm start, event-loop CPU, one shard', 'scheduler replay', 'shards 1', 'loop', 0.35),
  native('(h) npm start, event-loop CPU, inline', 'scheduler replay', 'shards 0', 'loop', 0.6),
  own('memory per live timer, everything included', 'scheduler memory', 'shardwheel', 'rss', 56, 'B'),
  engine('W1', 'W1 insert', 'wheel churn', 1.1),
  engine('W2', 'W2 churn, first 12.5 s', 'wheel churn', 0.6),
  engine('W2 late', 'W2 churn after 62.5 s', 'wheel churn', 0.6),
  engine('W3', 'W3 fire', 'wheel fire', 0.15),
  engine('W4 step', 'W4 step over an empty tick', 'wheel hour', 0.5),
  engine('W4 jump', 'W4 jump of an hour', 'wheel hour', 0.02),
  byId('W1', 'W1 insert', 'wheel churn', 1.3),
  byId('W2', 'W2 churn, first 12.5 s', 'wheel churn', 1),
  byId('W2 late', 'W2 churn after 62.5 s', 'wheel churn', 1),
  against(BARE_LOADS, 'default', 'W2', 'W2 churn, two loads that miss', 'wheel churn', 1.25),
  against(BARE_LOADS, 'default', 'W2 late', 'W2 churn after 62.5 s, two loads that miss', 'wheel churn', 1.25),
  byId('W3', 'W3 fire', 'wheel fire', 0.6),
  byId('W4 step', 'W4 step, a handler made for each', 'wheel hour', 0.5),
  against(BARE_HANDLER, 'default', 'W4 step', 'W4 step, beside the making of its handler', 'wheel hour', 1.25),
  byId('W4 jump', 'W4 jump of an hour', 'wheel hour', 0.02),
  ...presetNames.map((name) => against('default', name, 'W2', `W2 churn, ${name}`, 'wheel churn', 1.5)),
  own('W5 bytes per live timer, heap', 'wheel churn', 'default', 'W5 heap', 28, 'B'),
  own('W5 bytes per live timer, resident', 'wheel churn', 'default', 'W5 rss', 28, 'B'),
  own('W5 after 62.5 s of churn, heap', 'wheel churn', 'default', 'W5 heap late', 48, 'B'),
  own('W5 after 62.5 s of churn, resident', 'wheel churn', 'default', 'W5 rss late', 48, 'B'),
  own('W6 from 10 k to 10 M live', 'wheel growth', 'default', 'growth', 3, '×'),
  own('W6 from 10 k to 10 M live, engine', 'wheel growth', 'engine alone', 'growth', 3, '×'),
  ...clientsTargets,
  ...faceTargets,
  ...linearTargets,
  ...durableTargets,
  ...loadingTargets,
];

/** Judges every target whose suite was run. */
export function judge(comparisons: readonly Comparison[]): Verdict[] {
  return targets.flatMap((target) => {
    const comparison = comparisons.find(({ suite }) => suite === target.suite);
    if (comparison === undefined) return [];
    const row = comparison.rows.find(({ subject, figure }) => subject === target.subject && figure === target.figure);
    const ratio = target.base === undefined ? row?.ratio : row?.otherRatios?.[target.base];
    const measured = target.unit === '' ? ratio : row?.value;
    const state = measured === undefined ? 'not measured' : measured.median <= target.most ? 'met' : 'NOT MET';
    return [{ target, measured, state }];
  });
}
