import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { CostMeter } from './cost-meter.ts';
import { stayBusyUntilDue } from './due.ts';
import { type Face, faceOf } from './face.ts';

/** ms of an interval. */
const PERIOD = 5;
/** Times that intervals are given as long again. */
const MORE_SPANS = 10;

/** Waits and intervals of one face. An instance of this module serves one face only: see `ownInstance`. */
export class WaitLoad {
  readonly #face: Face;
  #done = 0;

  constructor(name: string) {
    this.#face = faceOf(name);
  }

  /** Waits of 1 ms, as many at once, and again. Between their beginning and their end the loop is busy. */
  async sleep(count: number, times: number, meter: CostMeter): Promise<void> {
    const { sleep } = this.#face;
    const wait = async (): Promise<void> => {
      await sleep(1);
      this.#done += 1;
    };
    await this.#repeat(wait, count, times, meter);
  }

  /** The same, each of so many with one signal that is never aborted. */
  async sleepWithSignal(count: number, times: number, meter: CostMeter): Promise<void> {
    const { sleep } = this.#face;
    const options = { signal: manyListeners(new AbortController()).signal };
    const wait = async (): Promise<void> => {
      await sleep(1, undefined, options);
      this.#done += 1;
    };
    await this.#repeat(wait, count, times, meter);
  }

  /**
   * Intervals of 5 ms, for so many ms, or longer where the machine has stood still meanwhile. Returns how many calls
   * there were.
   */
  async interval(count: number, span: number, meter: CostMeter): Promise<number> {
    const { setInterval, clearInterval } = this.#face;
    const calls = new Uint32Array(count);
    meter.start();
    const intervals = Array.from(calls, (_, at) => setInterval(() => (calls[at] += 1), PERIOD));
    const sumOf = (): number => calls.reduce((all, each) => all + each, 0);
    // Node's drift, and a loop that is behind leaves calls out: a tenth of them is the least that can be counted on.
    const isTooFew = (): boolean => calls.some((each) => each === 0) || sumOf() < (count * span) / PERIOD / 10;
    await pause(span);
    for (let more = 0; more < MORE_SPANS && isTooFew(); more++) await pause(span);
    for (const each of intervals) clearInterval(each);
    meter.stop();
    const sum = sumOf();
    if (isTooFew()) throw new Error(`only ${sum} calls`);
    await pause(2 * PERIOD);
    if (sumOf() !== sum) throw new Error('an interval went on after it was cleared');
    return sum;
  }

  /** The same for all faces: how many waits have ended. */
  checksums(): Record<string, number> {
    return { done: this.#done };
  }

  async #repeat(wait: () => Promise<void>, count: number, times: number, meter: CostMeter): Promise<void> {
    for (let time = 0; time < times; time++) {
      meter.start();
      const waits: Promise<void>[] = [];
      for (let i = 0; i < count; i++) waits.push(wait());
      meter.stop();
      stayBusyUntilDue();
      meter.start();
      await Promise.all(waits);
      meter.stop();
    }
  }
}

/** Node warns of a leak where a signal has many listeners. */
function manyListeners(controller: AbortController): AbortController {
  setMaxListeners(0, controller.signal);
  return controller;
}
