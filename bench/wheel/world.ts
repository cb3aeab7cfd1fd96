import { SEED, scaled, scaleFor, xorshift } from '../xorshift.ts';
import { wheelSubject } from './subjects.ts';
import { Tally } from './tally.ts';
import type { WheelSubject } from './wheel-subject.ts';

/** Deadlines lie at most this far ahead, ms. */
export const HORIZON = 60_000;
const HORIZON_SCALE = scaleFor(HORIZON);
const PAIRS_PER_MS = 400;

/** A subject, its tally and its clock, and what the workloads are made of. */
export class World {
  readonly tally: Tally;
  private readonly subject: WheelSubject;
  private readonly live: number;
  private random = SEED;
  private now = 0;
  private pairs = 0;
  private readonly lateBy: number;
  readonly isExact: boolean;

  /** `live` timers, of a kind of timers; fired up to `lateBy` ms late where the kind says so, or later where `slack` does. */
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
    const { subject, tally } = this;
    const scale = scaleFor(this.live);
    let random = this.random;
    let untilTick = PAIRS_PER_MS - (this.pairs % PAIRS_PER_MS);
    for (let pair = 0; pair < pairs; pair++) {
      random = xorshift(random);
      const timer = scaled(random, scale);
      random = xorshift(random);
      const deadline = this.now + 1 + scaled(random, HORIZON_SCALE);
      if (tally.cancel(timer)) subject.cancel(timer);
      tally.schedule(timer, deadline);
      subject.schedule(timer, deadline);
      if (--untilTick === 0) {
        untilTick = PAIRS_PER_MS;
        this.advanceTo(this.now + 1);
      }
    }
    this.pairs += pairs;
    this.random = random;
  }

  /** Advances `span` ms, by steps of one. */
  step(span: number): void {
    for (const end = this.now + span; this.now < end; ) this.advanceTo(this.now + 1);
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
