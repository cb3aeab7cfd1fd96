import { performance } from 'node:perf_hooks';
import { setTimeout as setNative } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Subject } from '../../replay/subjects/subject.ts';
import { CONNECT } from '../../replay/timer-kind.ts';
import { createRateTimers } from './rate-subjects.ts';
import type { RateLoad } from './rate-task.ts';
import { UsageMeter } from './usage-meter.ts';

/** ms of a timeout, until it is cancelled, and from one slice of work to the next. */
export const TIMEOUT = 3000;
export const CANCELLED_AFTER = 100;
export const SLICE = 20;
/** s that are measured; before that as long as a timeout, until what is left of the cancelled ones comes up. */
export const MEASURED = 2;
/**
 * What compiles it: so many pairs at a time, so often, with a timeout of so many ms. They are gone when the rest
 * begins.
 */
const LOT = 500;
const LOTS = 50;
const SHORT = 200;

/** Timeouts that are set and cancelled. None may fire, but of those that compile it, on a machine that stands still. */
class Pairs {
  /** Set and cancelled in a slice. */
  readonly each: number;
  subject!: Subject;
  readonly #handles: number;
  #next = 0;
  #isCompiled = false;

  constructor(each: number) {
    this.each = each;
    this.#handles = each * (CANCELLED_AFTER / SLICE);
  }

  get handles(): number {
    return Math.max(this.#handles, LOT);
  }

  readonly onFire = (): void => {
    if (this.#isCompiled) throw new Error('a timeout fired that was to be cancelled');
  };

  /** Sets short ones and cancels them, so many lots. */
  async compile(lots: number): Promise<void> {
    for (let lot = 0; lot < lots; lot++) {
      this.set(0, LOT, SHORT);
      await sleep(2);
      for (let handle = 0; handle < LOT; handle++) this.subject.cancel(handle);
    }
    this.#isCompiled = true;
  }

  set(from: number, count: number, delay: number): void {
    for (let handle = from; handle < from + count; handle++) this.subject.arm(CONNECT, handle, handle, delay, handle);
  }

  cancel(from: number, count: number): void {
    for (let handle = from; handle < from + count; handle++) {
      if (!this.subject.cancel(handle)) throw new Error('a timeout was gone before it was cancelled');
    }
  }

  /** Cancels what was set `CANCELLED_AFTER` ago, if anything was, and sets as many. */
  slice(cancels: boolean): void {
    const from = this.#next;
    this.subject.beginSlice();
    if (cancels) this.cancel(from, this.each);
    this.set(from, this.each, TIMEOUT);
    this.#next = (from + this.each) % this.#handles;
  }

  /** So many slices, one after the other. The wait is one of Node's timers, whatever the subject. */
  pace(slices: number, perform: (slice: number) => void): Promise<void> {
    const start = performance.now();
    let done = 0;
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        try {
          for (const due = Math.floor((performance.now() - start) / SLICE); done < slices && done < due; done++) {
            perform(done);
          }
          if (done === slices) resolve();
          // A timer of Node's comes up to a ms early: then the turn would be for nothing.
          else setNative(turn, Math.ceil(start + (done + 1) * SLICE - performance.now()) + 1);
        } catch (error) {
          reject(error);
        }
      };
      turn();
    });
  }
}

/** Timeouts that never fire. `rate`: pairs of a set and a cancel a second. */
export const measurePairs: RateLoad = async ({ subject: name, rate, quick }) => {
  const [each, part] = quick ? [20, 0.02] : [(rate * SLICE) / 1000, 1];
  const pairs = new Pairs(each);
  pairs.subject = await createRateTimers(name, pairs.handles, pairs.onFire);
  await pairs.subject.ready;
  await pairs.compile(LOTS * part);
  await sleep(2 * SHORT * part);
  const held = CANCELLED_AFTER / SLICE;
  await pairs.pace(held + Math.round((TIMEOUT * part) / SLICE), (slice) => pairs.slice(slice >= held));
  const meter = new UsageMeter();
  meter.start();
  const slices = Math.round((MEASURED * 1000 * part) / SLICE);
  await pairs.pace(slices, () => pairs.slice(true));
  const figures = meter.figures(slices * each);
  pairs.cancel(0, each * held);
  await pairs.subject.close(
    () => undefined,
    () => undefined,
  );
  return { ...figures, whole: figures.loop };
};
