import { block } from '../engine/figures.ts';
import { figure, withSpread } from '../engine/format.ts';
import { spreadOf } from '../engine/statistics.ts';
import {
  type Beyond,
  type Check,
  type Figure,
  figures,
  held,
  LIFETIME,
  MARK,
  PER_LOOP,
  type PlanResults,
  whereOf,
} from './plan-check.ts';

const keys = Object.keys(figures) as Figure[];

/** Predictions beside what was measured, as a Markdown table. Precondition: each check has its prediction. */
export function planFiguresOf({ beyond = [], checks, command, costs, date }: PlanResults, name = 'plan'): string {
  const { cores, model, node } = costs.machine;
  const rounds = checks[0].rounds.length;
  const off = checks.flatMap((check) => held.map((key) => Math.abs(ratioOf(check, key) - 1)));
  return block(name, [
    `\`${command}\`, ${date}, on ${cores} × ${model}, Node ${node}: ${PER_LOOP.toLocaleString('en-US')} connections per second and loop,`,
    `lifetime ${LIFETIME} s, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}. Each cell: predicted, measured, and the ratio of the two.`,
    `Of the ${off.length} predictions of CPU and rate ${off.filter((share) => share <= MARK).length} are within ${MARK * 100} %, ${off.filter((share) => share <= 2 * MARK).length} within ${2 * MARK * 100} %.`,
    '',
    `| where | ${keys.map((key) => figures[key]).join(' | ')} |`,
    `|---|${keys.map(() => '---:|').join('')}`,
    ...checks.map((check) => `| ${whereOf(check.arrangement)} | ${keys.map((key) => cell(check, key)).join(' | ')} |`),
    ...(beyond.length === 0 ? [] : beyondOf(beyond)),
  ]);
}

const beyondOf = (all: readonly Beyond[]): string[] => [
  '',
  'Predicted alone, by the costs of one loop there:',
  '',
  `| where | ${held.map((key) => figures[key]).join(' | ')} |`,
  `|---|${held.map(() => '---:|').join('')}`,
  ...all.map(
    ({ arrangement, predicted }) =>
      `| ${whereOf(arrangement)} | ${held.map((key) => figure(predicted[key])).join(' | ')} |`,
  ),
];

const measuredOf = ({ rounds }: Check, key: Figure) => spreadOf(rounds.map((each) => each[key]));

const ratioOf = (check: Check, key: Figure): number => check.predicted![key] / measuredOf(check, key).median;

const cell = (check: Check, key: Figure): string =>
  `${figure(check.predicted![key])}, ${withSpread(measuredOf(check, key))}, ${ratioOf(check, key).toFixed(2)}`;
