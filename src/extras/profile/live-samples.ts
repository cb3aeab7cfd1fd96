import type { Site } from './call-sites.ts';
import type { NodeTimeout } from './node-lists.ts';
import type { ProfileData } from './profile-data.ts';

const MAX_LIVE_TIMERS = 20_000;
/** Number of doublings of a ms by which lifetimes are distinguished. */
const LIFETIMES = 32;

interface LiveSample {
  readonly site: Site;
  readonly weight: number;
  /** In ms: when it was set or refreshed, or an interval was called, by the real clock. */
  at: number;
}

/** Sampled live timers: what happens to them counts for their site. Any other timer costs a look-up. */
export class LiveSamples {
  private readonly samples = new Map<NodeTimeout, LiveSample>();
  /** Those that were cleared, by the power of two of their lifetime in ms. */
  readonly lived: number[] = new Array(LIFETIMES).fill(0);
  readonly firings: ProfileData['early'] = { sampled: 0, early: 0, max: 0 };

  add(timer: NodeTimeout, site: Site, weight: number, at: number): void {
    if (this.samples.size >= MAX_LIVE_TIMERS) this.sweep();
    if (this.samples.size < MAX_LIVE_TIMERS) this.samples.set(timer, { site, weight, at });
  }

  cleared(timer: NodeTimeout, now: () => number): void {
    const sample = this.samples.get(timer);
    if (sample === undefined) return;
    this.samples.delete(timer);
    sample.site.cleared += sample.weight;
    const power = Math.ceil(Math.log2(Math.max(1, now() - sample.at)));
    this.lived[Math.min(power, LIFETIMES - 1)] += 1;
  }

  refreshed(timer: NodeTimeout, now: () => number): void {
    const sample = this.samples.get(timer);
    if (sample === undefined) return;
    sample.site.refreshed += sample.weight;
    sample.at = now();
  }

  fired(timer: NodeTimeout, now: number): void {
    const sample = this.samples.get(timer);
    if (sample === undefined) return;
    sample.site.fired += sample.weight;
    const { firings } = this;
    firings.sampled += 1;
    const early = timer._idleTimeout - (now - sample.at);
    if (early > 0) firings.early += 1;
    firings.max = Math.max(firings.max, early);
    if (timer._repeat) sample.at = now;
    else this.samples.delete(timer);
  }

  /** Removes those that have ended without a report. */
  private sweep(): void {
    for (const timer of this.samples.keys()) if (timer._destroyed) this.samples.delete(timer);
  }
}
