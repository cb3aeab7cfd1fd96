import { performance } from 'node:perf_hooks';
import { LatenessHistogram } from '../../metrics/lateness-histogram.ts';
import { process } from '../../process.ts';
import { threadNumber } from '../../runtime.ts';
import { CallSites, type Site } from './call-sites.ts';
import { clock, SampledTimes } from './call-times.ts';
import { DelayCounters } from './delay-counts.ts';
import { LiveSamples } from './live-samples.ts';
import { isInternal, type ListObserver, ListWatch, type NodeTimeout } from './node-lists.ts';
import { Passes } from './passes.ts';
import type { ProfileData, SeriesPoint, SiteCounts, TimerCounts } from './profile-data.ts';
import { Sampler } from './sampler.ts';

const MAX_POINTS = 480;

/**
 * Points over time, at most 480. When there are more, every second one is dropped, and from then on half as many are
 * added.
 */
export class Series {
  private points: SeriesPoint[] = [];
  private every = 1;
  private skipped = 0;
  private pass = 0;

  add(point: SeriesPoint): void {
    this.pass = Math.max(this.pass, point.pass);
    this.skipped += 1;
    if (this.skipped < this.every) return;
    this.skipped = 0;
    this.points.push({ ...point, pass: this.pass });
    this.pass = 0;
    if (this.points.length < MAX_POINTS) return;
    this.every *= 2;
    this.points = this.points.flatMap((later, at) => {
      if (at % 2 === 0) return [];
      return [{ ...later, pass: Math.max(later.pass, this.points[at - 1].pass) }];
    });
  }

  all(): SeriesPoint[] {
    return this.points.map((point) => ({ ...point }));
  }
}

/** Number of timed calls of each kind in a second: a µs for six. */
const CALLS_PER_SECOND = 250;
/**
 * Number of timers whose call sites are all recorded, some 30 µs each, and in the first second for each doubling of the
 * gap after them. Later seconds have a budget by the loop's busy time.
 */
const FIRST_SITES = 200;
const SITES = 10;
const SHARE_FOR_SITES = 0.002;
const FEWEST_SITES = 4;
const DELAYS_SHOWN = 64;
const SITES_SHOWN = 100;
const LATENESS_BUCKETS = 24;
/** Minimum of s between the last two points of the series. Rates over less time would be chance. */
const MIN_SPAN_S = 0.05;

export type Kind = keyof ProfileData['kinds'];

/**
 * Counts what happens to a thread's timers. Our functions report the program's calls, Node's lists what fires. A timer
 * is live while it is in a list; an interval also in its own callback.
 */
export class Recorder implements ListObserver {
  readonly watch = new ListWatch(this);
  readonly creations = new Sampler(SITES, FIRST_SITES);
  readonly clears = new Sampler(CALLS_PER_SECOND);
  readonly refreshes = new Sampler(CALLS_PER_SECOND);
  readonly times = { create: new SampledTimes(), clear: new SampledTimes(), refresh: new SampledTimes() };
  private readonly delays = new DelayCounters();
  private readonly kinds = { timeouts: 0, intervals: 0, promises: 0 };
  private readonly sites = new CallSites();
  private readonly samples = new LiveSamples();
  private readonly lateness = new LatenessHistogram();
  private readonly latenessBuckets: number[] = new Array(LATENESS_BUCKETS).fill(0);
  private readonly internal = { created: 0, refreshed: 0, fired: 0 };
  private readonly series = new Series();
  private readonly start = clock();
  private readonly passes = new Passes(this.start);
  private readonly idleBefore = performance.nodeTiming.idleTime;
  private readonly cpuBefore = process.cpuUsage();
  private needlessClears = 0;
  private live = 0;
  private peak = { live: 0, at: 0 };
  private now = 0;
  /** ms spent on finding call sites. */
  private siteTime = 0;
  private busyBefore = 0;
  private leftOut = 0;
  /** See `nodeClockOffset`. */
  clockOffset = 0;
  private final: ProfileData | undefined;

  created(timer: NodeTimeout, kind: Kind): void {
    this.delays.of(timer._idleTimeout).created += 1;
    this.kinds[kind] += 1;
    this.rise();
  }

  /**
   * Notes the place of a sampled creation, and follows the timer. Finding the place reads what the program may have
   * replaced or removed: a sample that fails is no sample, and the program's call goes on.
   */
  sampled(timer: NodeTimeout, entered: (...given: never[]) => unknown, weight: number): void {
    const set = clock();
    try {
      const site = this.sites.sample(entered, Math.trunc(timer._idleTimeout), weight);
      this.samples.add(timer, site, weight, set);
    } catch {
      // without a place
    }
    this.siteTime += clock() - set;
  }

  private rise(): void {
    this.live += 1;
    if (this.live > this.peak.live) {
      this.peak.live = this.live;
      this.peak.at = -1; // the next point sets the time
    }
  }

  isLive(timer: NodeTimeout): boolean {
    if (timer._idleNext) return timer._idleNext !== timer; // linked to itself: enrolled, and in no list
    return timer === this.watch.firing && Boolean(timer._repeat) && !timer._destroyed;
  }

  /** Called before Node clears it. */
  clearing(timer: NodeTimeout): void {
    if (isInternal(timer)) return;
    if (!timer._onTimeout || !this.isLive(timer)) {
      this.needlessClears += 1;
      return;
    }
    this.delays.of(timer._idleTimeout).cleared += 1;
    this.live -= 1;
    this.samples.cleared(timer, clock);
  }

  /** Called after Node has put it into its list again; `wasLive`: before. */
  refreshed(timer: NodeTimeout, wasLive: boolean): void {
    if (isInternal(timer)) {
      this.internal.refreshed += 1;
      return;
    }
    this.delays.of(timer._idleTimeout).refreshed += 1;
    if (!wasLive) this.rise();
    this.samples.refreshed(timer, clock);
  }

  passing(): void {
    this.now = clock();
    this.passes.mark(this.now);
  }

  fired(timer: NodeTimeout, ofNode: boolean): void {
    this.passes.call();
    if (ofNode) {
      this.internal.fired += 1;
      return;
    }
    this.delays.of(timer._idleTimeout).fired += 1;
    if (!timer._repeat) this.live -= 1;
    // It was set within that ms of Node's clock: on average half a ms into it.
    const late = Math.max(0, this.now - (timer._idleStart + this.clockOffset + Math.trunc(timer._idleTimeout) + 0.5));
    this.lateness.record(late);
    this.latenessBuckets[Math.min(32 - Math.clz32(late), LATENESS_BUCKETS - 1)] += 1;
    this.samples.fired(timer, this.now);
  }

  internalCreated(): void {
    this.internal.created += 1;
  }

  private get seconds(): number {
    return (clock() - this.start) / 1000;
  }

  /** ms that the loop was not idle, without the time of the recorder's own timer. */
  get busy(): number {
    const idle = performance.nodeTiming.idleTime - this.idleBefore;
    return Math.max(0, clock() - this.start - idle - this.leftOut);
  }

  /** Call it several times a second, from one of Node's own timers. */
  point(): void {
    const at = this.seconds;
    if (this.peak.at === -1) this.peak.at = at;
    this.series.add(this.present(at, this.delays.totals()));
    this.passes.longestOfSpan = 0;
  }

  /** Below 0 if timers end that were set before the recording. */
  private get shownLive(): number {
    return Math.max(0, this.live);
  }

  private present(at: number, totals: TimerCounts): SeriesPoint {
    return { at, live: this.shownLive, pass: this.passes.longestOfSpan, busy: this.busy, ...totals };
  }

  /** Call it each second. */
  renewBudgets(): void {
    const { busy } = this;
    const affordable =
      (SHARE_FOR_SITES * (busy - this.busyBefore) * this.sites.samples) / Math.max(this.siteTime, 1e-3);
    this.busyBefore = busy;
    this.creations.renew(Math.min(CALLS_PER_SECOND, Math.max(FEWEST_SITES, Math.floor(affordable))));
    this.clears.renew();
    this.refreshes.renew();
  }

  /** Subtracts the recorder's time, in ms, from the pass and from the busy time. */
  leaveOut(milliseconds: number): void {
    this.leftOut += milliseconds;
    this.passes.leaveOut(milliseconds);
  }

  stop(): void {
    this.final ??= this.data('stopped');
    this.watch.isOn = false;
  }

  data(state: ProfileData['state'] = 'recording'): ProfileData {
    if (this.final !== undefined) return this.final;
    const { user, system } = process.cpuUsage(this.cpuBefore);
    const passes = this.passes.data();
    const totals = this.delays.totals();
    const at = this.seconds;
    const { shownLive: live, busy } = this;
    const series = this.series.all();
    const before = series.at(-1)?.at ?? 0;
    if (at - before >= MIN_SPAN_S) series.push(this.present(at, totals));
    return {
      format: 1,
      process: {
        pid: process.pid,
        thread: threadNumber(),
        title: titleOf(process.argv),
        node: process.version,
        execPath: process.execPath,
      },
      state,
      seconds: at,
      busy,
      cpu: (user + system) / 1000,
      totals,
      kinds: { ...this.kinds },
      needlessClears: this.needlessClears,
      live,
      peak: { live: this.peak.live, at: this.peak.at === -1 ? at : this.peak.at },
      buckets: this.delays.buckets(),
      delays: this.delays.commonest(DELAYS_SHOWN),
      differentDelays: this.delays.different,
      calls: {
        create: this.times.create.times(),
        clear: this.times.clear.times(),
        refresh: this.times.refresh.times(),
      },
      lifetimes: [...this.samples.lived],
      passes,
      lateness: this.lateness.summary(),
      latenessBuckets: [...this.latenessBuckets],
      early: { ...this.samples.firings },
      sites: this.scaledSites(totals),
      siteSamples: this.sites.samples,
      internal: { ...this.internal },
      series,
    };
  }

  private scaledSites({ created }: TimerCounts): SiteCounts[] {
    const sites = this.sites.commonest();
    const weights = sites.reduce((sum, site) => sum + site.created, 0);
    const scale = weights === 0 ? 0 : created / weights;
    return sites.slice(0, SITES_SHOWN).map((site) => scaled(site, scale));
  }
}

function scaled({ delays, ...site }: Site, scale: number): SiteCounts {
  const [delay] = [...delays].sort(([, one], [, other]) => other - one)[0] ?? [0];
  const { created, cleared, refreshed, fired } = site;
  const counts = { created, cleared, refreshed, fired };
  const scaledCounts = Object.fromEntries(Object.entries(counts).map(([key, n]) => [key, Math.round(n * scale)]));
  return { ...site, delay, ...(scaledCounts as unknown as TimerCounts) };
}

function titleOf([, script = 'node', ...given]: readonly string[]): string {
  const name = script.split(/[/\\]/).slice(-2).join('/');
  const title = [name, ...given].join(' ');
  return title.length > 80 ? `${title.slice(0, 79)}…` : title;
}
