import { performance } from 'node:perf_hooks';
import type { ProfileData } from './profile-data.ts';

/** In ms. Callbacks that are no further apart belong to one pass: a turn of the loop takes longer. */
const GAP = 0.01;

/** Turns of the event loop so far; -1 if this Node does not count them. */
const turns = (): number => performance.nodeTiming.uvMetricsInfo?.loopCount ?? -1;

/**
 * Passes of Node's timer phase: from the first callback to the end of the last, including ticks and microtasks between
 * them, but not those after the last.
 */
export class Passes {
  private start = 0;
  private end = 0;
  private fired = 0;
  private isCalling = false;
  private turn = -1;
  private count = 0;
  private milliseconds = 0;
  private longest = { milliseconds: 0, fired: 0, at: 0 };
  /** The longest pass since this was set to 0, ms. */
  longestOfSpan = 0;
  private readonly origin: number;

  constructor(origin: number) {
    this.origin = origin;
  }

  /** A callback may have ended, another may begin. */
  mark(now: number): void {
    if (!this.isCalling && now - this.end > GAP) {
      const turn = turns();
      if (turn !== this.turn || turn === -1) {
        this.close();
        this.start = now;
        this.turn = turn;
      }
    }
    this.isCalling = false;
    this.end = now;
  }

  call(): void {
    this.fired += 1;
    this.isCalling = true;
  }

  /** Subtracts the recorder's own time within a callback from the pass, in ms. */
  leaveOut(milliseconds: number): void {
    this.start += milliseconds;
  }

  private close(): void {
    if (this.fired === 0) return;
    const milliseconds = Math.max(0, this.end - this.start);
    this.count += 1;
    this.milliseconds += milliseconds;
    this.longestOfSpan = Math.max(this.longestOfSpan, milliseconds);
    if (milliseconds > this.longest.milliseconds) {
      this.longest = { milliseconds, fired: this.fired, at: (this.start - this.origin) / 1000 };
    }
    this.fired = 0;
  }

  /** The passes so far, with the present one unless some of it is running. */
  data(): ProfileData['passes'] {
    if (!this.isCalling) this.close();
    const { count, milliseconds, longest } = this;
    return { count, milliseconds, longest: { ...longest } };
  }
}
