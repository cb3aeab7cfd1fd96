import uPlot from 'uplot';
import { colourOf } from '../../dashboard/page/colours.ts';
import { make, setText } from '../../dashboard/page/elements.ts';

/** A colour of the style sheet. */
type ColourName = 'text' | 'muted' | 'line' | 'created' | 'cleared' | 'refreshed' | 'fired';

interface PlotSeries {
  readonly name: string;
  readonly colour: ColourName;
  readonly values: readonly number[];
}

export interface PlotOptions {
  readonly title: string;
  /** Of the values along the lower edge: their text, and their word for a reader of the screen. */
  readonly along: { readonly values: readonly number[]; text(value: number): string; readonly name: string };
  readonly series: readonly PlotSeries[];
  text(value: number): string;
  /** Bars, one for each value along the edge, which is then their number. */
  readonly isBars?: boolean;
}

const HEIGHT = 200;
const FONT = '11px system-ui, sans-serif';
/** Pixels that a bar's label takes at most. */
const LABEL = 56;
/** Rows of the table behind a plot. */
const ROWS = 24;

/** A panel with a plot, its legend, which follows the pointer, and some of its numbers as a table. */
export function plotPanel(options: PlotOptions): HTMLElement {
  const { along, isBars = false, series, text, title } = options;
  const values = series.map(() => make('b'));
  const entries = series.map(({ colour, name }, at) =>
    make('li', {}, make('span', { class: 'key', style: `--colour: var(--${colour})` }), `${name} `, values[at]),
  );
  const moment = make('li', { class: 'muted' });
  const showLegend = (index: number | null | undefined) => {
    setText(moment, index == null ? '' : `${along.name} ${along.text(along.values[index])}`);
    for (const [at, each] of series.entries()) setText(values[at], index == null ? '' : text(each.values[index]));
  };
  const frame = make('div', {
    class: 'plot',
    role: 'img',
    'aria-label': `${title}: the numbers are in the table below`,
  });
  const panel = make(
    'section',
    { class: 'panel' },
    make('h2', {}, title),
    make('ul', { class: 'legend' }, ...entries, moment),
    frame,
    numbersOf(options),
  );
  showLegend(undefined);
  const plot = new uPlot(plotOptions(options, isBars, showLegend), dataOf(options), frame);
  new ResizeObserver(([{ contentRect }]) => plot.setSize({ width: contentRect.width, height: HEIGHT })).observe(frame);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plot.redraw(false, true));
  return panel;
}

const dataOf = ({ along, isBars, series }: PlotOptions): uPlot.AlignedData => [
  isBars ? along.values.map((_, at) => at) : [...along.values],
  ...series.map((each) => [...each.values]),
];

function plotOptions(
  { along, series, text }: PlotOptions,
  isBars: boolean,
  showLegend: (index: number | null | undefined) => void,
): uPlot.Options {
  const common = {
    stroke: () => colourOf('muted'),
    font: FONT,
    grid: { stroke: () => colourOf('line'), width: 1 },
    ticks: { show: false },
  };
  const paths = isBars ? { paths: uPlot.paths.bars?.({ size: [0.8, 60] }) } : {};
  const last = along.values.length - 1;
  return {
    width: 400,
    height: HEIGHT,
    padding: [10, 14, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false, setScale: false }, points: { size: 6 }, y: false },
    hooks: { setCursor: [({ cursor }) => showLegend(cursor.idx)] },
    scales: {
      x: { time: false, ...(isBars && { range: () => [-0.6, last + 0.6] as [number, number] }) },
      y: { range: (_, __, most) => [0, Math.max(1e-9, (most ?? 0) * 1.08)] },
    },
    axes: [
      {
        ...common,
        size: 26,
        ...(isBars && { splits: () => along.values.map((_, at) => at) }),
        values: ({ width }, marks) => {
          const step = isBars ? Math.ceil((marks.length * LABEL) / width) : 1;
          return marks.map((mark, at) => (at % step === 0 ? along.text(isBars ? along.values[mark] : mark) : ''));
        },
      },
      { ...common, size: 64, values: (_, marks) => marks.map((mark) => text(mark)) },
    ],
    series: [
      {},
      ...series.map(({ colour, name }) => ({
        label: name,
        stroke: () => colourOf(colour),
        fill: isBars ? () => colourOf(colour) : undefined,
        width: isBars ? 0 : 1.75,
        points: { show: false },
        ...paths,
      })),
    ],
  };
}

/** So many of the values, evenly spaced, for those who do not see the plot. */
function numbersOf({ along, series, text, title }: PlotOptions): HTMLElement {
  const step = Math.max(1, Math.ceil(along.values.length / ROWS));
  const rows = along.values.flatMap((value, at) => {
    if (at % step !== 0 && at !== along.values.length - 1) return [];
    const cells = series.map((each) => make('td', {}, text(each.values[at])));
    return make('tr', {}, make('th', { scope: 'row' }, along.text(value)), ...cells);
  });
  const heads = [along.name, ...series.map(({ name }) => name)].map((name) => make('th', { scope: 'col' }, name));
  const table = make(
    'table',
    {},
    make('caption', { class: 'hidden-text' }, title),
    make('thead', {}, make('tr', {}, ...heads)),
    make('tbody', {}, ...rows),
  );
  const scroll = make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title }, table);
  return make('details', {}, make('summary', {}, 'Numbers'), scroll);
}
