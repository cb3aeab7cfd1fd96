import type { Hello, Point, Sample } from '../messages.ts';
import { Chart } from './chart.ts';
import { byId, setAttribute, setText } from './elements.ts';
import { Events, type State } from './event-source.ts';
import { compact, count, timeText } from './format.ts';
import { Histogram } from './histogram.ts';
import { PartsInView } from './parts-in-view.ts';
import { tables } from './tables.ts';
import { followTheme } from './theme.ts';
import { Tiles } from './tiles.ts';
import { Wheels } from './wheels.ts';

/** Points that are kept: five minutes. */
const MOST_POINTS = 300;

/** The page: draws every other sample, once, and nothing in between or unseen. */
class Page {
  private readonly events = new Events({
    hello: (hello) => this.greet(hello),
    sample: (sample) => this.take(sample),
    state: (state, text, trouble) => this.tell(state, text, trouble),
  });
  private readonly tiles = new Tiles();
  private readonly wheels = new Wheels((from) => this.events.open(from));
  private readonly charts = [
    new Chart(byId('live-chart'), {
      title: 'Live timers',
      series: [{ name: 'Live', at: 1, colour: 'accent' }],
      text: count,
      axis: compact,
      least: 10,
    }),
    new Chart(byId('rates-chart'), {
      title: 'Timers per second',
      series: [
        { name: 'Scheduled', at: 2, colour: 'accent' },
        { name: 'Moved', at: 3, colour: 'second' },
        { name: 'Cancelled', at: 4, colour: 'third' },
        { name: 'Delivered', at: 5, colour: 'fourth' },
      ],
      text: count,
      axis: compact,
      least: 10,
    }),
    new Chart(byId('late-chart'), {
      title: 'Lateness',
      series: [
        { name: '50 % within', at: 6, colour: 'accent' },
        { name: '99 % within', at: 7, colour: 'second' },
      ],
      text: timeText,
      axis: timeText,
      isLogarithmic: true,
      least: 0.1,
    }),
  ];
  private readonly histogram = new Histogram(byId('histogram'));
  private readonly parts = new PartsInView<Sample>(() => this.drawSoon());
  private points: Point[] = [];
  private latest: Sample | undefined;
  private interval = 1000;
  private isDue = false;

  constructor() {
    followTheme(byId<HTMLButtonElement>('theme'), () => {
      this.wheels.drawScale();
      for (const chart of this.charts) chart.redraw();
      this.parts.renew();
      this.drawSoon();
    });
    this.addParts();
    document.addEventListener('visibilitychange', () => this.drawSoon());
    this.events.open(0);
  }

  private greet({ from, interval, node, pid, points, shards, shown, version }: Hello): void {
    this.points = points;
    this.interval = interval;
    this.parts.renew();
    this.wheels.range(from, shown, shards);
    setText(byId('about'), `${version} · Node.js ${node.replace('v', '')} · pid ${pid}`);
    document.title = `shardwheel · pid ${pid}`;
  }

  private take(sample: Sample): void {
    this.latest = sample;
    this.points.push(sample.point);
    if (this.points.length > MOST_POINTS) this.points.shift();
    this.parts.count();
    this.drawSoon();
  }

  private tell(state: State, text: string, trouble = ''): void {
    setText(byId('status'), text);
    setAttribute(byId('status'), 'data-state', state);
    setText(byId('banner'), trouble);
    byId('banner').hidden = trouble === '';
  }

  /** In the next frame, and once; not at all while nobody sees it. */
  private drawSoon(): void {
    if (this.isDue || document.hidden || this.latest === undefined) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      if (this.latest !== undefined) this.parts.show(this.latest);
    });
  }

  private addParts(): void {
    const { parts } = this;
    parts.add(byId('tiles'), (sample) => this.tiles.show(sample));
    parts.add(byId('dials'), ({ shards }) => this.wheels.show(shards));
    for (const chart of this.charts) parts.add(chart.parent, () => chart.show(this.points));
    parts.add(byId('histogram'), ({ lateness }) => this.histogram.show(lateness));
    for (const { element, show } of tables(() => this.interval)) parts.add(element, show);
  }
}

new Page();
