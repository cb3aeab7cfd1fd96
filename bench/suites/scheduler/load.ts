import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BUCKETS, LatenessHistogram } from '../../../src/metrics/lateness-histogram.ts';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import type { Subject } from '../../replay/subjects/subject.ts';
import { xorshift } from '../../replay/xorshift.ts';
import { start } from './subjects.ts';

export interface LoadOptions {
  /** Timers alive all the time. */
  readonly live: number;
  /** What an operation is: cancel + start of a random timer, of the newest ones, or the move of a random one. */
  readonly operation: 'random' | 'newest' | 'move';
  /** Delays are uniform over 1 ms … this, or all the same. */
  readonly span: number;
  readonly isEqual?: boolean;
  /** Least delay, ms. */
  readonly least?: number;
  readonly measuresLateness?: boolean;
  /** Of the draws. */
  readonly seed?: number;
}

/** Makes a subject for timers numbered 0 .. handles - 1. */
export type SubjectFactory = (handles: number, onFire: (timer: number) => void) => Subject;

const PREPARE = 10_000;
// V8: folded constants
const nextRandom = xorshift;
const drawn = scaled;

/**
 * What a program asks of its timers, and the account of it: each timer started must fire once or be cancelled once or
 * be handed back at the end, and a cancel must be answered by what is true. Draws do not depend on what has fired.
 */
export class Load {
  readonly subject: Subject;
  /** Of what has fired since `measureFrom`, and its counts. */
  latenesses = new Float64Array(BUCKETS);
  lateness = new LatenessHistogram(this.latenesses);
  early = 0;
  firedCount = 0;
  /** Over what was asked, in order: equal for all subjects. */
  operations = 0;
  private readonly options: LoadOptions;
  private readonly isLive: Uint8Array;
  private readonly delays: Int32Array;
  private readonly expected: Float64Array | undefined;
  private started = 0;
  private cancelled = 0;
  private wrong = 0;
  private random: number;
  private readonly least: number;
  private readonly spanScale: number;
  private readonly liveScale: number;

  constructor(create: SubjectFactory, options: LoadOptions) {
    const { live, span, least = 1, seed = SEED } = options;
    this.options = options;
    this.random = seed;
    this.least = least;
    this.spanScale = scaleFor(span - least + 1);
    this.liveScale = scaleFor(live);
    this.isLive = new Uint8Array(live).fill(0);
    this.delays = new Int32Array(live).fill(0);
    if (options.measuresLateness) this.expected = new Float64Array(live).fill(0);
    this.subject = create(live, (timer) => this.fired(timer));
  }

  /** Starts all timers, and lets the subject settle. */
  async prepare(): Promise<void> {
    await this.subject.ready;
    for (let timer = 0; timer < this.options.live; ) {
      this.subject.beginSlice();
      for (const end = Math.min(timer + PREPARE, this.options.live); timer < end; timer++) {
        this.start(timer, this.drawDelay());
      }
      await nextTurn();
    }
  }

  /**
   * Forgets what was late until now: starting a million timers takes the event loop for a while, and so does a
   * collection.
   */
  measureFrom(): void {
    this.latenesses = new Float64Array(BUCKETS);
    this.lateness = new LatenessHistogram(this.latenesses);
    this.early = 0;
  }

  /** Performs a number of operations. */
  perform(count: number): void {
    this.subject.beginSlice();
    if (this.options.operation === 'random') this.replaceRandom(count);
    else if (this.options.operation === 'newest') this.replaceNewest(count);
    else this.moveRandom(count);
  }

  /** Ends the subject; throws unless every timer is accounted for. */
  async close(): Promise<void> {
    let handedBack = 0;
    await this.subject.close(
      () => {
        handedBack++;
      },
      (visit) => {
        for (let timer = 0; timer < this.isLive.length; timer++) if (this.isLive[timer] === 1) visit(timer, timer);
      },
    );
    const lost = this.started - this.cancelled - this.firedCount - handedBack;
    if (lost !== 0 || this.wrong !== 0) {
      throw new Error(
        `of ${this.started} timers ${lost} are missing; ${this.wrong} fired twice or after their end, or were cancelled or moved with a wrong answer`,
      );
    }
  }

  private fired(timer: number): void {
    this.firedCount++;
    if (this.isLive[timer] === 0) this.wrong++;
    this.isLive[timer] = 0;
    this.subject.forget(timer);
    if (this.expected === undefined) return;
    const late = performance.now() - this.expected[timer];
    if (late < 0) this.early++;
    this.lateness.record(Math.max(late, 0));
  }

  private replaceRandom(count: number): void {
    for (let i = 0; i < count; i++) {
      const timer = this.drawTimer();
      this.cancel(timer);
      this.start(timer, this.drawDelay());
    }
  }

  /** The timers started last end first, newest first; as many new ones take their places. */
  private replaceNewest(count: number): void {
    const first = this.options.live - count;
    for (let timer = this.options.live - 1; timer >= first; timer--) this.cancel(timer);
    for (let timer = first; timer < this.options.live; timer++) this.start(timer, this.drawDelay());
  }

  private moveRandom(count: number): void {
    const { delays, expected, isLive, liveScale, subject } = this;
    let { operations, random } = this;
    for (let i = 0; i < count; i++) {
      random = nextRandom(random);
      const timer = drawn(random, liveScale);
      operations = (Math.imul(operations, 31) + timer) | 0;
      if (isLive[timer] === 0) {
        this.start(timer, delays[timer]);
        continue;
      }
      if (expected !== undefined) expected[timer] = performance.now() + delays[timer];
      if (!subject.move(timer, delays[timer])) this.wrong++;
    }
    this.operations = operations;
    this.random = random;
  }

  private start(timer: number, delay: number): void {
    this.started++;
    this.isLive[timer] = 1;
    this.delays[timer] = delay;
    if (this.options.operation !== 'move') this.operations = (Math.imul(this.operations, 31) + (timer ^ delay)) | 0;
    if (this.expected !== undefined) this.expected[timer] = performance.now() + delay;
    start(this.subject, timer, delay);
  }

  /** A timer that has fired cannot be cancelled; one that has not must be. */
  private cancel(timer: number): void {
    if (this.isLive[timer] === 0) return;
    this.isLive[timer] = 0;
    this.cancelled++;
    if (!this.subject.cancel(timer)) this.wrong++;
  }

  private drawTimer(): number {
    this.random = nextRandom(this.random);
    return drawn(this.random, this.liveScale);
  }

  private drawDelay(): number {
    if (this.options.isEqual) return this.options.span;
    this.random = nextRandom(this.random);
    return this.least + drawn(this.random, this.spanScale);
  }
}
