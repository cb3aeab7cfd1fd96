import { rowIn } from '../../engine/comparison.ts';
import { block, comparisonOf } from '../../engine/figures.ts';
import { describeMachine, type Results } from '../../engine/results.ts';
import type { Spread } from '../../engine/statistics.ts';
import { nodeRatio } from './node-ratio.ts';
import { INLINE, NODE } from './rate-subjects.ts';
import { ratedLoads, rateSuiteName } from './rate-suites.ts';
import type { RateTask } from './rate-task.ts';

/** A load in words, and the figure by which it is judged. */
const told: readonly (readonly [load: RateTask['load'], figure: string, title: string, unit: string])[] = [
  ['fires', 'loop, warm', 'Timers that fire', 'a second'],
  ['pairs', 'whole', 'Timeouts of one length that are set and cancelled', 'a second'],
  ['replay', 'loop', 'A proxy, with four timers a connection', 'new connections a second'],
];

/** Where an inline scheduler costs the event loop less than Node's timers, and where more, as a Markdown list. */
export function rateVerdictOf(results: Results): string {
  const { date, machine, rounds } = results;
  return block('rate-verdict', [
    ...told.map(([load, figure, title, unit]) => {
      const { rates = [] } = ratedLoads.find((one) => one.load === load) ?? {};
      const points = rates.flatMap((rate) => {
        const comparison = comparisonOf(results, rateSuiteName(load, rate));
        if (rowIn(comparison, NODE, figure) === undefined) throw new Error(`no ${figure} at ${rate}: take it anew`);
        const ratio = nodeRatio(comparison, INLINE, figure);
        return ratio === undefined ? [] : [{ rate, ratio }];
      });
      return `- ${title}: ${verdictOf(points, unit)}.`;
    }),
    '',
    `Medians of ${rounds} rounds, ${date.slice(0, 10)}, on ${describeMachine(machine)}.`,
  ]);
}

export interface RatePoint {
  readonly rate: number;
  /** Cost, of Node's. */
  readonly ratio: Spread;
}

/** Medians within these are no difference. */
const [LESS, MORE] = [0.85, 1.15];

/** What points of rising rate say: where it costs more, where less, where neither; `mostly` where rounds disagree. */
export function verdictOf(points: readonly RatePoint[], unit: string): string {
  const [first, last] = [points[0], points[points.length - 1]];
  const span = `${times(first)} at ${count(first)}, ${times(last)} at ${count(last)}`;
  if (points.every(({ ratio: { median } }) => median >= LESS && median <= MORE))
    return `no difference to speak of (${span} ${unit})`;
  const stretches: { word: string; points: RatePoint[] }[] = [];
  for (const point of points) {
    const word = wordOf(point);
    const latest = stretches.at(-1);
    if (latest?.word === word) latest.points.push(point);
    else stretches.push({ word, points: [point] });
  }
  if (stretches.length === 1) return `${stretches[0].word} at every rate (${span} ${unit})`;
  const told = stretches.map(({ word, points }, at) => {
    const [from, to] = [count(points[0]), count(points[points.length - 1])];
    if (at === 0) return `${word} up to ${to} ${unit}`;
    if (at === stretches.length - 1) return `${word} from ${from} on`;
    return from === to ? `${word} at ${from}` : `${word} from ${from} to ${to}`;
  });
  return `${told.join(', ')} (${span})`;
}

function wordOf({ ratio: { median, least, most } }: RatePoint): string {
  if (least > 1) return 'more';
  if (most < 1) return 'less';
  if (median > MORE) return 'mostly more';
  return median < LESS ? 'mostly less' : 'about the same';
}

const times = ({ ratio: { median } }: RatePoint): string => `${median.toFixed(median < 1 ? 2 : 1)}×`;
const count = ({ rate }: RatePoint): string => rate.toLocaleString('en-US');
