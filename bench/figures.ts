import { figure, withSpread } from './format.ts';
import { describeMachine, type Results } from './results.ts';

const BEGIN = '<!-- figures: written by `npm run bench:figures`, from bench/results/reference.json -->';
const END = '<!-- /figures -->';

/** The marks of a run as a Markdown table, with the command and the machine. */
export function figuresOf(results: Results): string {
  const rows = results.marks.map(({ mark, measured, state }) => {
    const unit = mark.unit === '' ? '×' : ` ${mark.unit}`;
    const got = measured === undefined ? '–' : withSpread(measured);
    return `| ${mark.title} | ${mark.of} | ${got} | ${figure(mark.most)}${unit} | ${state === 'NOT HELD' ? '**not held**' : state} |`;
  });
  return [
    BEGIN,
    `\`${results.command}\`, ${results.date.slice(0, 10)}, on ${describeMachine(results.machine)}: medians of`,
    `${results.rounds} interleaved rounds, with the least and the most.`,
    '',
    '| what | of what | measured | mark: at most | |',
    '|---|---|---:|---:|---|',
    ...rows,
    END,
  ].join('\n');
}

/** The text with its figures in place of whatever stood there. Throws where it has no place for them. */
export function withFigures(text: string, figures: string): string {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < from) throw new Error(`no lines "${BEGIN}" and "${END}" to write between`);
  return text.slice(0, from) + figures + text.slice(to + END.length);
}
