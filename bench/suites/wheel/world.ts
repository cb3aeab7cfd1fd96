import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import { xorshift } from '../../replay/xorshift.ts';
import { wheelSubject } from '../../subjects/subjects.ts';
import type { WheelSubject } from '../../subjects/wheel-subject.ts';
import { Tally } from './tally.ts';

/** Deadlines lie at most this far ahead, ms. */
export const HORIZON = 60_000;
const HORIZON_SCALE = scaleFor(HORIZON);
const PAIRS_PER_MS = 400;
// V8: folded constants
const nextRandom = xorshift;
const drawn = scaled;

/** A subject, its tally and its clock, and what the workloads are made of. */
export class World {
  // Declared: a field that is defined holds undefined first, and is then checked at every use.
  declare readonly tally: Tally;
  declare private readonly subject: WheelSubject;
  declare private readonly live: number;
  private random = SEED;
  private now = 0;
  private pairs = 0;
  private readonly lateBy: number;
  readonly isExact: boolean;

  /**
   * `live` timers, of a kind of timers; fired up to `lateBy` ms late where the kind says so, or later where `slack`
   * does.
   */
  constructor(name: string, live: number, slack = 0) {
    const { create, lateBy } = wheelSubject(name);
    this.lateBy = Math.max(lateBy, slack);
    this.isExact = lateBy === 0;
    this.tally = new Tally(live, this.lateBy);
    this.subject = create(live, this.tally);
    this.live = live;
  }

  /** Schedules every timer, uniform in (0, span] ms from now. */
  insertAll(span: number): void {
    const { live, now, subject, tally } = this;
    const scale = scaleFor(span);
    let random = this.random;
    for (let timer = 0; timer < live; timer++) {
      random = xorshift(random);
      const deadline = now + 1 + scaled(random, scale);
      tally.schedule(timer, deadline);
      subject.schedule(timer, deadline);
    }
    this.random = random;
  }

  /** Cancels a random timer and schedules it anew, so many times; a millisecond passes with every 400. */
  churn(pairs: number): void {
    for (let left = pairs; left > 0; ) {
      const untilTick = PAIRS_PER_MS - (this.pairs % PAIRS_PER_MS);
      const count = Math.min(left, untilTick);
      this.replace(count, scaleFor(this.live));
      this.pairs += count;
      left -= count;
      if (count === untilTick) this.advanceTo(this.now + 1);
    }
  }

  /**
   * The pairs of one millisecond. A function of its own, called often: a loop that is entered once is compiled while it
   * runs, and spends more on checks of its own variables than the fastest subjects on a pair.
   */
  private replace(pairs: number, liveScale: number): void {
    const { now, subject, tally } = this;
    let random = this.random;
    for (let pair = 0; pair < pairs; pair++) {
      random = nextRandom(random);
      const timer = drawn(random, liveScale);
      random = nextRandom(random);
      const deadline = now + 1 + drawn(random, HORIZON_SCALE);
      if (tally.cancel(timer)) subject.cancel(timer);
      tally.schedule(timer, deadline);
      subject.schedule(timer, deadline);
    }
    this.random = random;
  }

  /** Advances `span` ms, by steps of one. */
  step(span: number): void {
    const end = this.now + span;
    for (let now = this.now + 1; now <= end; now++) this.advanceTo(now);
  }

  advanceTo(now: number): void {
    this.now = now;
    this.tally.now = now;
    this.subject.advanceTo(now);
  }

  /** Waits for all timers to fire and requires that all were treated right. */
  finish(): void {
    this.step(HORIZON + this.lateBy + 1);
    this.tally.requireAllAccountedFor();
  }

  checksums(): Record<string, number> {
    const { operations, firings } = this.tally;
    return this.isExact ? { operations, firings } : { operations };
  }
}
