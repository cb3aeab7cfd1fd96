import { presets } from '../src/wheel/presets.ts';
import { clientsTargets } from './clients/clients.ts';
import type { Comparison } from './comparison.ts';
import { faceTargets } from './faces/face-suites.ts';
import { linearTargets } from './linear/linear-suites.ts';
import type { Spread } from './statistics.ts';
import type { Target } from './target.ts';
import { BARE_LOADS, ID_YARDSTICK } from './wheel/subjects.ts';

export interface Verdict {
  readonly target: Target;
  readonly measured: Spread | undefined;
  /** By the median. */
  readonly state: 'met' | 'NOT MET' | 'not measured';
}

const yardstick = (figure: string, title: string, suite: string, most: number): Target[] => [
  { title, suite, subject: 'default', figure, most, unit: '', of: 'default wheel / yardstick' },
  { title: `${title}, engine`, suite, subject: 'engine alone', figure, most, unit: '', of: 'engine alone / yardstick' },
];

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
  native('(a) event-loop CPU per cancel + schedule', 'scheduler random', 'shardwheel', 'loop', 1 / 10),
  native('(a) whole-process CPU', 'scheduler random', 'shardwheel', 'process', 1 / 2),
  native('(b) event-loop CPU, newest first', 'scheduler newest', 'shardwheel', 'loop', 1 / 12),
  native('(c) event-loop CPU, equal durations', 'scheduler equal', 'shardwheel', 'loop', 1 / 2),
  native('(d) reschedule against refresh()', 'scheduler move', 'shardwheel', 'loop', 1 / 8),
  own('(e) longest block, 1 M due at once', 'scheduler burst', 'shardwheel', 'block', 5, 'ms'),
  native('(e) time to the last', 'scheduler burst', 'shardwheel', 'last', 2),
  own('(f) lateness p99', 'scheduler lateness', 'shardwheel, after', 'p99', 2, 'ms'),
  own('(f) lateness p99.9', 'scheduler lateness', 'shardwheel, after', 'p999', 5, 'ms'),
  own('(f) early', 'scheduler lateness', 'shardwheel, after', 'early', 0, 'timers'),
  own('memory per live timer, everything included', 'scheduler memory', 'shardwheel', 'rss', 56, 'B'),
  ...yardstick('W1', 'W1 insert', 'wheel churn', 1.1),
  ...yardstick('W2', 'W2 churn, first 12.5 s', 'wheel churn', 0.6),
  ...yardstick('W2 late', 'W2 churn after 62.5 s', 'wheel churn', 0.6),
  ...yardstick('W3', 'W3 fire', 'wheel fire', 0.15),
  ...yardstick('W4 step', 'W4 step over an empty tick', 'wheel hour', 0.5),
  ...yardstick('W4 jump', 'W4 jump of an hour', 'wheel hour', 1 / 50),
  byId('W1', 'W1 insert, with ids', 'wheel churn', 1.3),
  byId('W2', 'W2 churn, with ids', 'wheel churn', 1),
  byId('W2 late', 'W2 churn after 62.5 s, with ids', 'wheel churn', 1),
  against(BARE_LOADS, 'default', 'W2', 'W2 churn, two loads that miss', 'wheel churn', 1.25),
  against(BARE_LOADS, 'default', 'W2 late', 'W2 churn after 62.5 s, two loads that miss', 'wheel churn', 1.25),
  byId('W3', 'W3 fire, with ids', 'wheel fire', 0.6),
  byId('W4 step', 'W4 step, with ids, a handler made for each', 'wheel hour', 0.5),
  ...presetNames.map((name) => against('default', name, 'W2', `W2 churn, ${name}`, 'wheel churn', 1.5)),
  own('W5 bytes per live timer, heap', 'wheel churn', 'default', 'W5 heap', 40, 'B'),
  own('W5 bytes per live timer, resident', 'wheel churn', 'default', 'W5 rss', 40, 'B'),
  own('W5 after 62.5 s of churn, heap', 'wheel churn', 'default', 'W5 heap late', 80, 'B'),
  own('W5 after 62.5 s of churn, resident', 'wheel churn', 'default', 'W5 rss late', 80, 'B'),
  own('W6 from 10 k to 10 M live', 'wheel growth', 'default', 'growth', 3, '×'),
  own('W6 from 10 k to 10 M live, engine', 'wheel growth', 'engine alone', 'growth', 3, '×'),
  ...clientsTargets,
  ...faceTargets,
  ...linearTargets,
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
