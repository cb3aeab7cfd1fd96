import type uPlot from 'uplot';
import { make, setAttribute } from './elements.ts';
import { clock } from './format.ts';
import type { Trend } from './model.ts';
import { Plot, type PlotSeries } from './plot.ts';
import { Table } from './table.ts';
import { type ColourName, colours } from './theme.ts';

interface Series extends PlotSeries<ColourName> {
  readonly value: (trend: Trend) => number | undefined;
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
/** Rows of the table behind a chart. */
const ROWS = 12;

/** Values over the last five minutes: a canvas, a legend, and the latest as a table. */
export class Chart {
  readonly parent: HTMLElement;
  private readonly options: ChartOptions;
  private readonly plot: Plot<ColourName>;
  private readonly details = make('details', {}, make('summary', {}, 'Numbers'));
  private readonly table: Table<Trend>;
  private points: readonly Trend[] = [];
  private data: uPlot.AlignedData = [[]];

  constructor(parent: HTMLElement, options: ChartOptions) {
    this.parent = parent;
    this.options = options;
    this.plot = new Plot({
      height: HEIGHT,
      series: options.series,
      colourOf: (name) => colours[name],
      scales: this.scales(),
      alongAxis: this.timeAxis(),
      upAxis: this.valueAxis(),
      textsAt: (point) => this.textsAt(point),
    });
    const scroll = make('div', { class: 'scroll' });
    this.details.append(scroll);
    parent.append(this.plot.legend, this.plot.frame, this.details);
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
  }

  show(points: readonly Trend[]): void {
    this.points = points;
    this.data = dataOf(points, this.options.series);
    this.plot.show(this.data);
    this.showTable();
    const { series, title } = this.options;
    const texts = this.textsAt(undefined);
    const latest = series.map(({ name }, at) => `${name} ${texts[at]}`).join(', ');
    setAttribute(this.plot.frame, 'aria-label', `${title}, the last five minutes; now ${latest}`);
  }

  /** The colours have changed. */
  redraw(): void {
    this.plot.redraw();
  }

  private textOf(value: number | null | undefined): string {
    return value === null || value === undefined ? '–' : this.options.text(value);
  }

  /** At a point of the data; else the latest. */
  private textsAt(point: number | undefined): string[] {
    const last = this.points.at(-1);
    return this.options.series.map(({ value }, series) =>
      this.textOf(point === undefined ? last && value(last) : this.data[series + 1][point]),
    );
  }

  private showTable(): void {
    if (this.details.open) this.table.show(this.points.slice(-ROWS).reverse());
  }

  private scales(): uPlot.Scales {
    const { isLogarithmic, least } = this.options;
    const upTo = (most: number | null): [number, number] => [0, Math.max(least, (most ?? 0) * 1.08)];
    return {
      x: { time: false, range: () => this.span() },
      y: {
        distr: isLogarithmic ? 3 : 1,
        range: (_, __, most) => (isLogarithmic ? decades(least, most) : upTo(most)),
      },
    };
  }

  private timeAxis(): uPlot.Axis {
    return {
      size: 26,
      splits: () => this.marks(),
      values: (_, marks) => marks.map((mark) => this.ago(mark)),
    };
  }

  private valueAxis(): uPlot.Axis {
    const { axis, isLogarithmic } = this.options;
    return {
      size: 62,
      space: 34,
      ...(isLogarithmic && { splits: (_: uPlot, __: number, from: number, to: number) => decadesFrom(from, to) }),
      values: (_, values) => values.map((value) => (value === null ? '' : axis(value))),
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

/** A column of times, in s, and one of values for each series; a gap where nothing was sampled for long. */
function dataOf(points: readonly Trend[], series: readonly Series[]): uPlot.AlignedData {
  const times: number[] = [];
  const columns: (number | null)[][] = series.map(() => []);
  let before = Number.POSITIVE_INFINITY;
  for (const point of points) {
    const time = point.at / 1000;
    if (time - before > GAP) {
      times.push(time - GAP / 2);
      for (const column of columns) column.push(null);
    }
    times.push(time);
    for (const [at, { value }] of series.entries()) columns[at].push(value(point) ?? null);
    before = time;
  }
  return [times, ...columns];
}

/** Whole decades that hold all. */
const decades = (least: number, most: number | null): [number, number] => [
  least,
  10 ** Math.max(1, Math.ceil(Math.log10(Math.max(1, most ?? 1)))),
];

const decadesFrom = (from: number, to: number): number[] =>
  Array.from({ length: Math.round(Math.log10(to / from)) + 1 }, (_, decade) => from * 10 ** decade);
