import uPlot from 'uplot';
import { make, setAttribute, setText } from './elements.ts';
import { clock } from './format.ts';
import type { Trend } from './model.ts';
import { Table } from './table.ts';
import { type ColourName, colours } from './theme.ts';

interface Series {
  readonly name: string;
  readonly value: (trend: Trend) => number | undefined;
  readonly colour: ColourName;
}

export interface ChartOptions {
  readonly title: string;
  readonly series: readonly Series[];
  /** For the legend and the table, and shorter for the axis. */
  readonly text: (value: number) => string;
  readonly axis: (value: number) => string;
  /** Values over decades. */
  readonly isLogarithmic?: boolean;
  /** The axis ends no lower. */
  readonly least: number;
}

/** Seconds that a chart shows: the first of these that holds all there is. */
const SPANS = [60, 120, 300];
const PARTS = 4;
const HEIGHT = 196;
/** Points further apart than this, in s, are not joined. */
const GAP = 3;
const FONT = '11px system-ui, sans-serif';
/** Rows of the table behind a chart. */
const ROWS = 12;

/** Values over the last five minutes: a canvas, a legend, and the latest as a table. */
export class Chart {
  readonly parent: HTMLElement;
  private readonly options: ChartOptions;
  private readonly plot: uPlot;
  private readonly frame = make('div', { class: 'plot', role: 'img' });
  private readonly legend: HTMLElement[];
  private readonly details = make('details', {}, make('summary', {}, 'Numbers'));
  private readonly table: Table<Trend>;
  private points: readonly Trend[] = [];
  private data: uPlot.AlignedData;

  constructor(parent: HTMLElement, options: ChartOptions) {
    this.parent = parent;
    this.options = options;
    this.legend = options.series.map(() => make('b'));
    const entries = options.series.map(({ name, colour }, at) =>
      make('li', {}, make('span', { class: 'key', 'data-colour': colour }), `${name} `, this.legend[at]),
    );
    const scroll = make('div', { class: 'scroll' });
    this.details.append(scroll);
    parent.append(make('ul', { class: 'legend' }, ...entries), this.frame, this.details);
    const columns = options.series.map(({ name, value }) => ({
      title: name,
      text: (trend: Trend) => this.textOf(value(trend)),
    }));
    this.table = new Table<Trend>(
      scroll,
      `${options.title}: the latest`,
      [{ title: 'Time', text: ({ at }) => clock(at) }, ...columns],
      'Nothing has been sampled yet.',
    );
    this.details.addEventListener('toggle', () => this.showTable());
    this.data = [[], ...options.series.map(() => [])];
    this.plot = new uPlot(this.plotOptions(), this.data, this.frame);
    new ResizeObserver(([{ contentRect }]) => this.plot.setSize({ width: contentRect.width, height: HEIGHT })).observe(
      this.frame,
    );
  }

  show(points: readonly Trend[]): void {
    this.points = points;
    const times: number[] = [];
    const values: (number | null)[][] = this.options.series.map(() => []);
    for (const [at, point] of points.entries()) {
      const time = point.at / 1000;
      if (at > 0 && time - points[at - 1].at / 1000 > GAP) {
        times.push(time - GAP / 2);
        for (const each of values) each.push(null);
      }
      times.push(time);
      for (const [series, { value }] of this.options.series.entries()) values[series].push(value(point) ?? null);
    }
    this.data = [times, ...values];
    this.plot.setData(this.data);
    this.showLegend(undefined);
    this.showTable();
    const { title, series } = this.options;
    const last = points.at(-1);
    const latest = series.map(({ name, value }) => `${name} ${this.textOf(last && value(last))}`).join(', ');
    setAttribute(this.frame, 'aria-label', `${title}, the last five minutes; now ${latest}`);
  }

  /** The colours have changed. */
  redraw(): void {
    this.plot.redraw(false, true);
  }

  private textOf(value: number | null | undefined): string {
    return value === null || value === undefined ? '–' : this.options.text(value);
  }

  private showLegend(index: number | null | undefined): void {
    const last = this.points.at(-1);
    for (const [series, { value }] of this.options.series.entries()) {
      const shown = index == null ? last && value(last) : this.data[series + 1][index];
      setText(this.legend[series], this.textOf(shown));
    }
  }

  private showTable(): void {
    if (this.details.open) this.table.show(this.points.slice(-ROWS).reverse());
  }

  private plotOptions(): uPlot.Options {
    const { axis, isLogarithmic, least, series } = this.options;
    const muted = () => colours.muted;
    const grid = { stroke: () => colours.line, width: 1 };
    const common = { stroke: muted, font: FONT, grid, ticks: { show: false } };
    return {
      width: 400,
      height: HEIGHT,
      padding: [10, 16, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false, setScale: false }, points: { size: 6 }, y: false },
      hooks: { setCursor: [({ cursor }) => this.showLegend(cursor.idx)] },
      scales: {
        x: { time: false, range: () => this.span() },
        y: {
          distr: isLogarithmic ? 3 : 1,
          range: (_, __, most) => (isLogarithmic ? decades(least, most) : [0, Math.max(least, (most ?? 0) * 1.08)]),
        },
      },
      axes: [
        {
          ...common,
          size: 26,
          splits: () => this.marks(),
          values: (_, marks) => marks.map((mark) => this.ago(mark)),
        },
        {
          ...common,
          size: 62,
          space: 34,
          ...(isLogarithmic && { splits: (_: uPlot, __: number, from: number, to: number) => decadesFrom(from, to) }),
          values: (_, values) => values.map((value) => (value === null ? '' : axis(value))),
        },
      ],
      series: [
        {},
        ...series.map(({ colour, name }) => ({
          label: name,
          stroke: () => colours[colour],
          width: 1.75,
          points: { show: false },
        })),
      ],
    };
  }

  private span(): [number, number] {
    const end = (this.points.at(-1)?.at ?? Date.now()) / 1000;
    const age = end - (this.points[0]?.at ?? Date.now()) / 1000;
    return [end - (SPANS.find((span) => age <= span) ?? SPANS[SPANS.length - 1]), end];
  }

  private marks(): number[] {
    const [from, to] = this.span();
    return Array.from({ length: PARTS + 1 }, (_, part) => from + ((to - from) * part) / PARTS);
  }

  private ago(mark: number): string {
    const seconds = Math.round(this.span()[1] - mark);
    if (mark === this.span()[0]) return ''; // the other axis has its label there
    return seconds === 0 ? 'now' : `−${seconds} s`;
  }
}

/** Whole decades that hold all. */
const decades = (least: number, most: number | null): [number, number] => [
  least,
  10 ** Math.max(1, Math.ceil(Math.log10(Math.max(1, most ?? 1)))),
];

const decadesFrom = (from: number, to: number): number[] =>
  Array.from({ length: Math.round(Math.log10(to / from)) + 1 }, (_, decade) => from * 10 ** decade);
