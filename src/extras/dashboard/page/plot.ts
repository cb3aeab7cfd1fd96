import uPlot from 'uplot';
import { make, setText } from './elements.ts';

export interface PlotSeries<Colour> {
  readonly name: string;
  readonly colour: Colour;
}

export interface PlotOptions<Colour extends string> {
  /** Of the canvas, in pixels. */
  readonly height: number;
  readonly series: readonly PlotSeries<Colour>[];
  /** What canvases draw a colour of the style sheet with, at present. */
  colourOf(name: Colour | 'muted' | 'line'): string;
  readonly scales: uPlot.Scales;
  readonly alongAxis: uPlot.Axis;
  readonly upAxis: uPlot.Axis;
  /** Bars in place of lines. */
  readonly isBars?: boolean;
  /** The text of each series at a point, in order; undefined: no point is pointed at. */
  textsAt(point: number | undefined): readonly string[];
}

const FONT = '11px system-ui, sans-serif';

/** Lines or bars on a canvas as wide as its frame, and a legend that follows the pointer. */
export class Plot<Colour extends string> {
  readonly legend: HTMLUListElement;
  readonly frame = make('div', { class: 'plot', role: 'img' });
  private readonly options: PlotOptions<Colour>;
  private readonly texts: readonly HTMLElement[];
  private readonly plot: uPlot;

  constructor(options: PlotOptions<Colour>) {
    this.options = options;
    this.texts = options.series.map(() => make('b'));
    const entries = options.series.map(({ colour, name }, at) =>
      make('li', {}, make('span', { class: 'key', 'data-colour': colour }), `${name} `, this.texts[at]),
    );
    this.legend = make('ul', { class: 'legend' }, ...entries);
    this.plot = new uPlot(this.plotOptions(), [[], ...options.series.map(() => [])], this.frame);
    const observer = new ResizeObserver(([{ contentRect }]) => {
      this.plot.setSize({ width: contentRect.width, height: options.height });
    });
    observer.observe(this.frame);
  }

  show(data: uPlot.AlignedData): void {
    this.plot.setData(data);
    this.showLegend(undefined);
  }

  /** The colours have changed. */
  redraw(): void {
    this.plot.redraw(false, true);
  }

  private showLegend(point: number | undefined): void {
    const texts = this.options.textsAt(point);
    for (const [series, text] of texts.entries()) setText(this.texts[series], text);
  }

  private plotOptions(): uPlot.Options {
    const { alongAxis, colourOf, height, isBars = false, scales, series, upAxis } = this.options;
    const common: uPlot.Axis = {
      stroke: () => colourOf('muted'),
      font: FONT,
      grid: { stroke: () => colourOf('line'), width: 1 },
      ticks: { show: false },
    };
    const drawn: Partial<uPlot.Series> = isBars
      ? { width: 0, paths: uPlot.paths.bars?.({ size: [0.8, 60] }) }
      : { width: 1.75 };
    return {
      width: 400,
      height,
      padding: [10, 16, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false, setScale: false }, points: { size: 6 }, y: false },
      hooks: { setCursor: [({ cursor }) => this.showLegend(cursor.idx ?? undefined)] },
      scales,
      axes: [
        { ...common, ...alongAxis },
        { ...common, ...upAxis },
      ],
      series: [
        {},
        ...series.map(({ colour, name }) => ({
          label: name,
          stroke: () => colourOf(colour),
          ...(isBars && { fill: () => colourOf(colour) }),
          points: { show: false },
          ...drawn,
        })),
      ],
    };
  }
}
