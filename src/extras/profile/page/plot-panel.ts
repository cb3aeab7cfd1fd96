import type uPlot from 'uplot';
import { colourOf } from '../../dashboard/page/colours.ts';
import { make, setAttribute, setText } from '../../dashboard/page/elements.ts';
import { Plot, type PlotSeries } from '../../dashboard/page/plot.ts';
import { Table } from '../../dashboard/page/table.ts';

/** A colour of the style sheet. */
type ColourName = 'created' | 'cleared' | 'refreshed' | 'fired';

interface Series extends PlotSeries<ColourName> {
  readonly values: readonly number[];
}

export interface PlotPanelOptions {
  readonly title: string;
  /** Of the values along the lower edge: their text, and their word for a reader of the screen. */
  readonly along: { readonly values: readonly number[]; text(value: number): string; readonly name: string };
  readonly series: readonly Series[];
  text(value: number): string;
  /** Bars, one for each value along the edge, which is then their number. */
  readonly isBars?: boolean;
}

const HEIGHT = 200;
/** Pixels that a bar's label takes at most. */
const LABEL = 56;
/** Rows of the table behind a plot. */
const ROWS = 24;

/** A panel with a plot, its legend, which follows the pointer, and some of its numbers as a table. */
export function plotPanel(options: PlotPanelOptions): HTMLElement {
  const { along, isBars = false, series, text, title } = options;
  const pointed = make('li', { class: 'muted' });
  const plot = new Plot<ColourName>({
    height: HEIGHT,
    series,
    colourOf,
    scales: {
      x: isBars ? barsScale(along.values.length) : { time: false },
      y: { range: (_, __, most) => [0, Math.max(1e-9, (most ?? 0) * 1.08)] },
    },
    alongAxis: isBars ? barsAxis(options) : { size: 26, values: (_, marks) => marks.map((mark) => along.text(mark)) },
    upAxis: { size: 64, values: (_, marks) => marks.map((mark) => text(mark)) },
    isBars,
    textsAt(point) {
      setText(pointed, point === undefined ? '' : `${along.name} ${along.text(along.values[point])}`);
      return series.map(({ values }) => (point === undefined ? '' : text(values[point])));
    },
  });
  plot.legend.append(pointed);
  setAttribute(plot.frame, 'aria-label', `${title}: the numbers are in the table below`);
  plot.show([
    along.values.map((value, at) => (isBars ? at : value)),
    ...series.map(({ values }): number[] => [...values]),
  ]);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plot.redraw());
  return make('section', { class: 'panel' }, make('h2', {}, title), plot.legend, plot.frame, numbersOf(options));
}

/** Half a bar's place at either end. */
const barsScale = (count: number): uPlot.Scale => ({ time: false, range: () => [-0.6, count - 1 + 0.6] });

/** A label below each bar; where they are narrow, below every other, third, …. */
function barsAxis({ along }: PlotPanelOptions): uPlot.Axis {
  return {
    size: 26,
    splits: () => along.values.map((_, at) => at),
    values({ width }, bars) {
      const step = Math.ceil((bars.length * LABEL) / width);
      return bars.map((bar, at) => (at % step === 0 ? along.text(along.values[bar]) : ''));
    },
  };
}

/** So many of the values, evenly spaced, for those who do not see the plot. */
function numbersOf({ along, series, text, title }: PlotPanelOptions): HTMLElement {
  const scroll = make('div', { class: 'scroll' });
  const columns = series.map(({ name, values }) => ({ title: name, text: (point: number) => text(values[point]) }));
  const place = { title: along.name, text: (point: number) => along.text(along.values[point]) };
  const table = new Table<number>(scroll, title, [place, ...columns], 'None.');
  const last = along.values.length - 1;
  const step = Math.max(1, Math.ceil(along.values.length / ROWS));
  table.show([...along.values.keys()].filter((point) => point % step === 0 || point === last));
  return make('details', {}, make('summary', {}, 'Numbers'), scroll);
}
