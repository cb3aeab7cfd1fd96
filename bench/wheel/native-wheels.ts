import type { Row } from '../comparison.ts';
import { block } from '../figures.ts';
import { figure } from '../format.ts';
import type { Results } from '../results.ts';
import { ENGINE, YARDSTICK } from './subjects.ts';

/** What W1 to W5 came to: ns each, ns per pair, ns each, ns per step, µs, bytes of heap; undefined where it was not measured. */
type Measured = readonly [
  insert: number,
  churn: number,
  fire: number,
  step: number | undefined,
  jump: number | undefined,
  bytes: number,
];

/** Figures that stand for the columns in the suites of this bench. */
const columns: readonly (readonly [title: string, suite: string, figure: string])[] = [
  ['W1 insert', 'wheel churn', 'W1'],
  ['W2 churn', 'wheel churn', 'W2'],
  ['W3 fire', 'wheel fire', 'W3'],
  ['W4 step', 'wheel hour', 'W4 step'],
  ['W4 jump of an hour', 'wheel hour', 'W4 jump'],
  ['W5 heap', 'wheel churn', 'W5 heap'],
];

/** The same yardstick in the run that measured the others: two cores, pinned, medians of 5 interleaved rounds, 2026-11. */
const yardstick: Measured = [15, 86, 182, 6.1, 10_900, 16];

/**
 * Wheels and heaps of other languages and packages, on another machine than all other figures here: W1 to W5 with the same draws,
 * each in its own language. "Malloc": a timer is allocated when it is scheduled.
 */
export const nativeWheels: Readonly<Record<string, Measured>> = {
  'C++ ratas': [4, 90, 189, 1.6, 2400, 48],
  'C++ ratas, malloc': [11, 244, 303, 1.6, 2400, 64],
  'C wahern/timeout': [5, 188, 945, 3.6, 6.5, 80],
  'C wahern/timeout, malloc': [13, 286, 1038, 3.6, 6.5, 96],
  'Java Agrona DeadlineTimerWheel': [92, 173, 45, 28, 6455, 34],
  'Java Netty HashedWheelTimer': [45, 331, 204, 14, 12_900, 57],
  'Java Netty HashedWheelTimer, 512 slots': [37, 1189, 9476, 14, 12_900, 57],
  'Rust tokio-util DelayQueue': [46, 572, 596, 410, 19, 48],
  'Rust quad wheel': [124, 545, 348, 14, 1815, 107],
  'Go time.AfterFunc, Stop': [117, 865, 2001, undefined, undefined, 120],
  'Erlang send_after, cancel_timer': [333, 3336, 1952, undefined, undefined, 219],
  'Node setTimeout, clearTimeout': [499, 1719, 1854, undefined, undefined, 168],
};

const ours = [ENGINE, 'default'] as const;

/** Ours in the reference run and the others, each by its ratio to the yardstick of its own run, as a Markdown table. */
export function nativeWheelsOf({ comparisons }: Results): string {
  const rowOf = (subject: string, suite: string, key: string): Row | undefined =>
    comparisons.find((one) => one.suite === suite)?.rows.find((row) => row.subject === subject && row.figure === key);
  const ratio = (value: number | undefined): string => (value === undefined ? '–' : `${figure(value)}×`);
  const line = (name: string, cells: readonly string[]): string => `| ${[name, ...cells].join(' | ')} |`;
  return block('native', [
    line(
      `× = ${YARDSTICK}`,
      columns.map(([title]) => title),
    ),
    `|---|${columns.map(() => '---:|').join('')}`,
    ...ours.map((subject) =>
      line(
        `**${subject}**`,
        columns.map(([, suite, key]) => ratio(rowOf(subject, suite, key)?.ratio?.median)),
      ),
    ),
    ...Object.entries(nativeWheels).map(([name, measured]) =>
      line(
        name,
        measured.map((value, at) => ratio(value === undefined ? undefined : value / yardstick[at]!)),
      ),
    ),
  ]);
}
