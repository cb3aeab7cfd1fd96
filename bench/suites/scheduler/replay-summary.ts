import { block } from '../../engine/figures.ts';
import { figure } from '../../engine/format.ts';
import { describeProcessor, type ReleaseResults, type Results } from '../../engine/results.ts';
import { replay } from './replay.ts';
import { describeReplays, medianOf, ratioOf, replaysOf } from './replays.ts';
import { DEFAULT, NODE } from './subjects.ts';

const rows = [
  ['loop', 'event-loop CPU per timer operation', 'ns'],
  ['process', 'CPU of the whole process per timer operation', 'ns'],
  ['bytes', 'memory per live timer', 'bytes'],
  ['p50', 'half of the timers come within', 'ms'],
  ['p99', '99 of 100 timers come within', 'ms'],
  ['block', 'the longest time that the event loop stood still', 'ms'],
  ['early', 'timers that came too early', ''],
] as const;

/**
 * What the default comes to on the reference release, with how it is on the others, as a Markdown table. `elsewhere`:
 * a run on another processor, where the gain is another.
 */
export function replaySummaryOf(results: ReleaseResults, elsewhere: Results): string {
  const runs = replaysOf(results);
  const [reference] = runs;
  const releases = Object.keys(results);
  return block('replay-summary', [
    `| | Node's timers | shardwheel | of Node's | on Node ${listed(releases)} |`,
    '|---|---:|---:|---:|---:|',
    ...rows.map(([key, title, unit]) => {
      const [before, after] = [NODE, DEFAULT].map((subject) => figure(medianOf(reference, replay.name, subject, key)));
      const ratios = runs.map((run) => ratioOf(run, replay.name, key));
      const shown = [before, after].map((value) => [value, unit].filter((part) => part !== '').join(' '));
      const gain = `${figure(ratios[0])}×`;
      return `| ${[title, ...shown, gain, range(ratios)].join(' | ')} |`;
    }),
    '',
    `${describeReplays(runs)} The first columns are of Node ${reference.machine.node.slice(1)}; the last has the least and the most of all ` +
      `releases. A factor is the median of the rounds' own factors. On ${describeProcessor(elsewhere.machine)}, ${elsewhere.date.slice(0, 10)}, ` +
      `the first two factors were ${figure(ratioOf(elsewhere, replay.name, 'loop'))}× and ${figure(ratioOf(elsewhere, replay.name, 'process'))}×.`,
  ]);
}

function range(ratios: readonly number[]): string {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map(figure);
  return least === most ? `${least}×` : `${least}× to ${most}×`;
}

const listed = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
