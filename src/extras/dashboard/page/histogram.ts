import { cleared, make, setAttribute, setText } from './elements.ts';
import { count, timeText } from './format.ts';
import type { LatenessView, View } from './model.ts';
import { Table } from './table.ts';
import { colours } from './theme.ts';

const HEIGHT = 196;
const [LEFT, RIGHT, TOP, BOTTOM] = [62, 16, 10, 26];
const FONT = '11px system-ui, sans-serif';

interface Row {
  readonly name: string;
  readonly now: string;
  readonly run: string;
}

type Latenesses = Pick<View, 'overall' | 'recent' | 'seconds'>;

/** Shares of the deliveries by lateness, now and over the run: bars on a canvas, and the numbers as a table. */
export class Histogram {
  private readonly canvas = make('canvas', { role: 'img', height: `${HEIGHT}` });
  private readonly frame = make('div', { class: 'plot' }, this.canvas);
  private readonly seconds = make('span');
  private readonly now = make('b');
  private readonly run = make('b');
  private readonly details = make('details', {}, make('summary', {}, 'Numbers'));
  private readonly table: Table<Row>;
  private latest: Latenesses | undefined;
  private bounds: readonly number[] = [];
  private width = 400;

  constructor(parent: HTMLElement) {
    const legend = make(
      'ul',
      { class: 'legend' },
      make('li', {}, make('span', { class: 'key', 'data-colour': 'accent' }), this.seconds, this.now),
      make('li', {}, make('span', { class: 'key', 'data-colour': 'second' }), 'The run ', this.run),
    );
    const scroll = make('div', { class: 'scroll' });
    this.details.append(scroll);
    parent.append(legend, this.frame, this.details);
    this.table = new Table<Row>(
      scroll,
      'Lateness of deliveries, now and over the run',
      [
        { title: 'Lateness', text: ({ name }) => name },
        { title: 'Now', text: ({ now }) => now },
        { title: 'The run', text: ({ run }) => run },
      ],
      'Nothing has been delivered yet.',
    );
    this.details.addEventListener('toggle', () => this.showTable());
    new ResizeObserver(([{ contentRect }]) => {
      this.width = contentRect.width;
      this.draw();
    }).observe(this.frame);
  }

  /** `bounds`: of the buckets, but for the last. */
  show(latest: Latenesses, bounds: readonly number[]): void {
    this.latest = latest;
    this.bounds = bounds;
    const { recent: now, overall: run, seconds } = latest;
    setText(this.seconds, seconds === 0 ? 'Now ' : `The last ${Math.round(seconds)} s `);
    setText(this.now, now === undefined ? '–' : summaryOf(now));
    setText(this.run, summaryOf(run));
    setAttribute(
      this.canvas,
      'aria-label',
      `Shares of deliveries by lateness. Now ${now === undefined ? 'unknown' : summaryOf(now)}; over the run ${summaryOf(run)}`,
    );
    this.draw();
    this.showTable();
  }

  /** Also when the colours have changed. */
  draw(): void {
    const context = cleared(this.canvas, this.width, HEIGHT);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${HEIGHT}px`;
    if (this.latest === undefined) return;
    const { bounds } = this;
    const { recent: now, overall: run } = this.latest;
    const shares = [now, run].map((view) => (view === undefined ? [] : sharesOf(view)));
    const most = Math.max(0.1, ...shares.flat());
    const step = [0.02, 0.05, 0.1, 0.2, 0.25].find((step) => most / step <= 4) ?? 0.25;
    const top = Math.min(1, Math.ceil(most / step) * step);
    const y = (share: number): number => HEIGHT - BOTTOM - (share / top) * (HEIGHT - TOP - BOTTOM);
    context.font = FONT;
    context.fillStyle = colours.muted;
    context.strokeStyle = colours.line;
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (let share = 0; share <= top + 1e-9; share += step) {
      context.fillText(`${Math.round(share * 100)} %`, LEFT - 8, y(share));
      context.beginPath();
      context.moveTo(LEFT, Math.round(y(share)) + 0.5);
      context.lineTo(this.width - RIGHT, Math.round(y(share)) + 0.5);
      context.stroke();
    }
    const room = (this.width - LEFT - RIGHT) / (bounds.length + 1);
    const bar = Math.max(2, Math.min(14, room * 0.36));
    for (const [set, colour] of [colours.accent, colours.second].entries()) {
      context.fillStyle = colour;
      for (const [bucket, share] of shares[set].entries()) {
        if (share === 0) continue;
        const height = Math.max(1, y(0) - y(share)); // what is there is seen
        context.fillRect(LEFT + (bucket + 0.5) * room + (set - 1) * (bar + 1), y(0) - height, bar, height);
      }
    }
    this.drawBounds(context, bounds, room);
  }

  /** Each bound stands where its bucket ends; as many as there is room for. */
  private drawBounds(context: CanvasRenderingContext2D, bounds: readonly number[], room: number): void {
    const every = Math.ceil(52 / room);
    context.fillStyle = colours.muted;
    context.textAlign = 'center';
    for (const [bucket, bound] of bounds.entries()) {
      if (bucket % every === 0) context.fillText(timeText(bound), LEFT + (bucket + 1) * room, HEIGHT - 12);
    }
  }

  private showTable(): void {
    if (!this.details.open || this.latest === undefined) return;
    const { bounds } = this;
    const { recent: now, overall: run } = this.latest;
    const buckets = run.buckets.map((inRun, bucket) => ({
      name:
        bucket < bounds.length ? `at most ${timeText(bounds[bucket])}` : `over ${timeText(bounds[bounds.length - 1])}`,
      now: now === undefined ? '–' : count(now.buckets[bucket]),
      run: count(inRun),
    }));
    const of = (name: string, text: (view: LatenessView) => string): Row => ({
      name,
      now: now === undefined ? '–' : text(now),
      run: text(run),
    });
    this.table.show([
      of('Deliveries', (view) => count(view.count)),
      of('Mean', (view) => timeText(view.mean)),
      of('50 % within', (view) => timeText(view.p50)),
      of('90 % within', (view) => timeText(view.p90)),
      of('99 % within', (view) => timeText(view.p99)),
      of('99.9 % within', (view) => timeText(view.p999)),
      of('Latest', (view) => timeText(view.max)),
      ...buckets,
    ]);
  }
}

const summaryOf = (view: LatenessView): string =>
  view.count === 0 ? 'no deliveries' : `50 % within ${timeText(view.p50)}, 99 % ${timeText(view.p99)}`;

const sharesOf = ({ buckets, count }: LatenessView): number[] =>
  buckets.map((each) => (count === 0 ? 0 : each / count));
