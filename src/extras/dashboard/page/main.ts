import type { Hello, Sample } from '../messages.ts';
import { Chart } from './chart.ts';
import { byId, setAttribute, setText } from './elements.ts';
import { Events, type State } from './event-source.ts';
import { compact, count, timeText } from './format.ts';
import { Histogram } from './histogram.ts';
import { Model, type View } from './model.ts';
import { PartsInView } from './parts-in-view.ts';
import { tables } from './tables.ts';
import { followTheme } from './theme.ts';
import { Tiles } from './tiles.ts';
import { Wheels } from './wheels.ts';

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
      series: [{ name: 'Live', value: ({ size }) => size, colour: 'accent' }],
      text: count,
      axis: compact,
      least: 10,
    }),
    new Chart(byId('rates-chart'), {
      title: 'Timers per second',
      series: [
        { name: 'Scheduled', value: ({ rates }) => rates?.scheduled, colour: 'accent' },
        { name: 'Moved', value: ({ rates }) => rates?.rescheduled, colour: 'second' },
        { name: 'Cancelled', value: ({ rates }) => rates?.cancelled, colour: 'third' },
        { name: 'Delivered', value: ({ rates }) => rates?.delivered, colour: 'fourth' },
      ],
      text: count,
      axis: compact,
      least: 10,
    }),
    new Chart(byId('late-chart'), {
      title: 'Lateness',
      series: [
        {
          name: '50 % within',
          value: ({ lateness }) => (lateness?.count ? lateness.p50 : undefined),
          colour: 'accent',
        },
        {
          name: '99 % within',
          value: ({ lateness }) => (lateness?.count ? lateness.p99 : undefined),
          colour: 'second',
        },
      ],
      text: timeText,
      axis: timeText,
      isLogarithmic: true,
      least: 0.1,
    }),
  ];
  private readonly histogram = new Histogram(byId('histogram'));
  private readonly parts = new PartsInView<View>(() => this.drawSoon());
  private model = new Model({ bounds: [], points: [] });
  private latest: View | undefined;
  /** When the latest sample came, on this machine's clock. */
  private arrived = 0;
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
    document.addEventListener('visibilitychange', () => {
      this.showAge();
      this.drawSoon();
    });
    setInterval(() => this.showAge(), 1000);
    // the server has taken the token off, and left a '?'
    history.replaceState(null, '', location.origin + location.pathname);
    this.events.open(0);
  }

  private greet(hello: Hello): void {
    const { from, interval, node, pid, shards, shown, version } = hello;
    this.model = new Model(hello);
    this.interval = interval;
    this.parts.renew();
    this.wheels.range(from, shown, shards);
    setText(byId('about'), `${version} · Node.js ${node.replace('v', '')} · pid ${pid}`);
    document.title = `shardwheel · pid ${pid}`;
  }

  private take(sample: Sample): void {
    this.latest = this.model.take(sample);
    this.arrived = Date.now();
    this.showAge();
    this.parts.count();
    this.drawSoon();
  }

  private tell(state: State, text: string, trouble = ''): void {
    setText(byId('status'), text);
    setAttribute(byId('status'), 'data-state', state);
    setText(byId('banner'), trouble);
    byId('trouble').hidden = trouble === '';
    this.showAge();
  }

  /** How old the numbers are, which the head shows while there is trouble. */
  private showAge(): void {
    if (document.hidden || this.latest === undefined) return;
    const seconds = Math.floor((Date.now() - this.arrived) / 1000);
    setText(byId('age'), `The numbers are ${timeText(seconds * 1000)} old.`);
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
    parts.add(byId('tiles'), (view) => this.tiles.show(view));
    parts.add(byId('dials'), ({ shards }) => this.wheels.show(shards));
    for (const chart of this.charts) parts.add(chart.parent, () => chart.show(this.model.trends));
    parts.add(byId('histogram'), (view) => this.histogram.show(view, this.model.bounds));
    for (const { element, show } of tables(() => this.interval)) parts.add(element, show);
  }
}

new Page();
