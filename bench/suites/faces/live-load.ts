import { setImmediate as nextTurn } from 'node:timers/promises';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import { xorshift } from '../../replay/xorshift.ts';
import type { CostMeter } from './cost-meter.ts';
import { stayBusyUntilDue } from './due.ts';
import { type Face, faceOf } from './face.ts';

/** ms; far enough that none of the live ones fires while it is measured. */
const NEAREST = 60_000;

/** Operations in one turn of the event loop. */
const CHUNK = 1000;

/** Timeouts of the proof that clearing clears and refreshing moves. */
const PROOF = 1000;

/**
 * So many live timeouts of one face at a time, and what is done to them. An instance of this module serves one face
 * only (`liveLoadOf`): each face has loops that V8 has compiled for it alone, as in a program that uses one.
 */
export class LiveLoad {
  readonly #face: Face;
  readonly #timeouts: NodeJS.Timeout[];
  readonly #live: number;
  /** Delays are drawn from so many ms, the first being `NEAREST`: 1 where all are equal. */
  readonly #span: number;
  #state = SEED;
  #cleared = 0;
  #fired = 0;
  /** Over those of the proof, in the order in which they fired. */
  #order = 0;
  /** Callbacks of live timeouts: none. */
  #strays = 0;
  readonly #onStray = (): void => {
    this.#strays += 1;
  };

  constructor(name: string, live: number, span: number) {
    this.#face = faceOf(name);
    this.#live = live;
    this.#span = span;
    this.#timeouts = new Array(live);
  }

  /** Sets all. */
  async set(): Promise<void> {
    await this.#inTurns(this.#live, (count, done) => {
      const { setTimeout } = this.#face;
      const timeouts = this.#timeouts;
      const scale = scaleFor(this.#span);
      let state = this.#state;
      for (let at = done; at < done + count; at++) {
        state = xorshift(state);
        timeouts[at] = setTimeout(this.#onStray, NEAREST + scaled(state, scale));
      }
      this.#state = state;
    });
  }

  /** Clears a timer at a random place and sets another there, `times` times. */
  async clearAndSet(pairs: number): Promise<void> {
    await this.#inTurns(pairs, (count) => {
      const { clearTimeout, setTimeout } = this.#face;
      const timeouts = this.#timeouts;
      const [place, scale] = [scaleFor(this.#live), scaleFor(this.#span)];
      let state = this.#state;
      for (let i = 0; i < count; i++) {
        state = xorshift(state);
        const at = scaled(state, place);
        clearTimeout(timeouts[at]);
        state = xorshift(state);
        timeouts[at] = setTimeout(this.#onStray, NEAREST + scaled(state, scale));
      }
      this.#state = state;
      this.#cleared += count;
    });
  }

  /** Refreshes a timer at a random place, `times` times. */
  async refresh(times: number): Promise<void> {
    await this.#inTurns(times, (count) => {
      const timeouts = this.#timeouts;
      const place = scaleFor(this.#live);
      let state = this.#state;
      for (let i = 0; i < count; i++) {
        state = xorshift(state);
        timeouts[scaled(state, place)].refresh();
      }
      this.#state = state;
    });
  }

  /** Sets a batch of 1 ms in one go, and has it fire; so many times. Between setting and firing the loop is busy. */
  async fire(batch: number, times: number, meter: CostMeter): Promise<void> {
    const { setTimeout } = this.#face;
    for (let time = 0; time < times; time++) {
      let left = batch;
      let done = (): void => undefined;
      const all = new Promise<void>((resolve) => {
        done = resolve;
      });
      const onFire = (): void => {
        left -= 1;
        if (left !== 0) return;
        meter.stop();
        done();
      };
      meter.start();
      for (let i = 0; i < batch; i++) setTimeout(onFire, 1);
      meter.stop();
      stayBusyUntilDue();
      meter.start();
      await all;
      await nextTurn();
      if (left !== 0) throw new Error(`${-left} timeouts of ${batch} fired twice`);
      this.#fired += batch;
    }
  }

  /** Clears some that are about to fire, and refreshes some: these fire last, and the cleared do not. */
  async prove(): Promise<void> {
    const { setTimeout, clearTimeout } = this.#face;
    const timeouts: NodeJS.Timeout[] = [];
    for (let i = 0; i < PROOF; i++) {
      const onFire = (): void => {
        this.#order = (Math.imul(this.#order, 31) + i) | 0;
        this.#fired += 1;
      };
      timeouts.push(setTimeout(onFire, 1));
    }
    for (const timeout of timeouts) {
      this.#state = xorshift(this.#state);
      const choice = scaled(this.#state, scaleFor(3));
      if (choice === 0) {
        clearTimeout(timeout);
        this.#cleared += 1;
      } else if (choice === 1) timeout.refresh();
    }
    await new Promise<void>((resolve) => void setTimeout(resolve, 20));
  }

  /** Clears all. Throws where one has fired. */
  async clear(): Promise<void> {
    await this.#inTurns(this.#live, (count, done) => {
      for (let at = done; at < done + count; at++) this.#face.clearTimeout(this.#timeouts[at]);
    });
    this.#cleared += this.#live;
    this.#timeouts.fill(undefined as never);
    if (this.#strays > 0)
      throw new Error(`${this.#strays} timeouts of a minute fired: too early, or this took a minute`);
  }

  /** The same for all faces: what was drawn, how many have fired and were cleared, and the order of the proof. */
  checksums(): Record<string, number> {
    return { draws: this.#state, fired: this.#fired, cleared: this.#cleared, order: this.#order };
  }

  async #inTurns(all: number, work: (count: number, done: number) => void): Promise<void> {
    for (let done = 0; done < all; done += CHUNK) {
      work(Math.min(CHUNK, all - done), done);
      await nextTurn();
    }
  }
}
