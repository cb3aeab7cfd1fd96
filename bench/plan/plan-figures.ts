import { titleOf } from '../../tools/plan/arrangements.ts';
import { count } from '../../tools/replay/format.ts';
import { block } from '../figures.ts';
import { figure, withSpread } from '../format.ts';
import { type Check, figures, held, isWithin, MARK, type PlanResults, ratioOf } from './plan-check.ts';

function where({ arrangement }: Check): string {
  const { cores, loops } = arrangement;
  return `${cores} ${cores === 1 ? 'core' : 'cores'}, ${loops} ${loops === 1 ? 'loop' : 'loops'}, ${titleOf(arrangement)}`;
}

function verdict(check: Check): string {
  if (!held.includes(check.figure)) return '';
  return isWithin(check) ? 'within' : '**beyond**';
}

/** Predictions beside what was measured, as a Markdown table. */
export function planFiguresOf({ checks, command, cps, date, machine, lifetime, rounds }: PlanResults): string {
  return block('plan', [
    `\`${command}\`, ${date}, on ${machine.cores} × ${machine.model}, Node ${machine.node}: ${count(cps)} connections per second, lifetime ${lifetime} s,`,
    `medians of ${rounds} rounds, with the least and the most. The mark is ${MARK * 100} %.`,
    '',
    '| what | where | predicted | measured | predicted / measured | |',
    '|---|---|---:|---:|---:|---|',
    ...checks.map((check) => {
      const { measured, predicted } = check;
      const cells = [figures[check.figure], where(check), figure(predicted), withSpread(measured)];
      return `| ${cells.join(' | ')} | ${ratioOf(check).toFixed(2)} | ${verdict(check)} |`;
    }),
  ]);
}
