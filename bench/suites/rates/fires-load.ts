import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { LatenessHistogram } from '../../../src/metrics/lateness-histogram.ts';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import type { OnFire, Subject } from '../../replay/subjects/subject.ts';
import { CONNECT } from '../../replay/timer-kind.ts';
import { xorshift } from '../../replay/xorshift.ts';
import type { Figures } from '../loading/spawned.ts';
import { createRateTimers, DRIVER } from './rate-subjects.ts';
import type { RateLoad } from './rate-task.ts';
import { UsageMeter } from './usage-meter.ts';

/** s from a cold start, and when all is compiled. */
export const COLD = 8;
export const WARM = 2;
/** Delays, ms: whole ones from `LEAST` on. Their mean is a second, so there are as many chains as fires per second. */
export const LEAST = 500;
export const SPAN = 1001;
/**
 * What compiles it: so many single timers at a time, so often, ms apart. They are too few for a registered program to
 * change hands.
 */
const SINGLE = 500;
const LOTS = 50;
const APART = 5;
/** ms by which timers may come early, as Node's do by one, and for which one that is due is waited for. */
const EARLY = 5;
const PATIENCE = 5000;

/** Chains of timers, each of which sets its successor when it fires; nobody else does anything. */
class Fires {
  readonly chains: number;
  subject!: Subject;
  fired = 0;
  lateness = new LatenessHistogram();
  /** Single timers that have not fired. */
  single = 0;
  readonly #due: Float64Array;
  #state = SEED;

  constructor(chains: number) {
    this.chains = chains;
    this.#due = new Float64Array(chains);
  }

  readonly onFire: OnFire = (_kind, timer) => {
    if (timer >= this.chains) {
      this.single -= 1;
      return;
    }
    const now = performance.now();
    if (now < this.#due[timer] - EARLY) throw new Error('a timer fired that was not due, or fired twice');
    this.#fire(timer, now);
  };

  /** Sets all of them as if they had been there for ever: their first delays are what is left of one. */
  set(): void {
    for (let timer = 0; timer < this.chains; timer++) {
      const share = this.#draw(2 ** 20) / 2 ** 20;
      const left = share < 0.5 ? share * 2 * LEAST : LEAST + SPAN * (1 - Math.sqrt(2 - 2 * share));
      this.#set(timer, performance.now(), 1 + Math.floor(left));
    }
  }

  /** Sets single timers of at most so many ms, and waits for them. */
  async fireSingle(count: number, delay: number): Promise<void> {
    this.single += count;
    for (let i = 0; i < count; i++) {
      this.subject.arm(CONNECT, this.chains + i, i, 1 + (i % delay), this.chains + i);
    }
    const end = performance.now() + PATIENCE;
    while (this.single > 0) {
      await sleep(delay);
      if (performance.now() > end) throw new Error(`${this.single} single timers did not fire`);
    }
  }

  /** Does what callbacks do, so often. */
  perform(fires: number): void {
    for (let i = 0; i < fires; i++) this.#fire(i % this.chains, performance.now());
  }

  /** Throws where what is due by now does not come. */
  async close(): Promise<void> {
    const now = performance.now();
    const overdue = () => this.#due.filter((due) => due < now).length;
    while (overdue() > 0) {
      await sleep(10);
      if (performance.now() > now + PATIENCE) throw new Error(`${overdue()} of ${this.chains} chains have ended`);
    }
    await this.subject.close(
      () => undefined,
      (visit) => {
        for (let timer = 0; timer < this.chains; timer++) visit(timer, timer);
      },
    );
  }

  #fire(timer: number, now: number): void {
    this.lateness.record(now - this.#due[timer]);
    this.fired += 1;
    this.#set(timer, now, LEAST + this.#draw(SPAN));
  }

  #set(timer: number, now: number, delay: number): void {
    this.#due[timer] = now + delay;
    this.subject.arm(CONNECT, timer, timer, delay, timer);
  }

  #draw(range: number): number {
    this.#state = xorshift(this.#state);
    return scaled(this.#state, scaleFor(range));
  }
}

/** Timers that fire. `rate`: so many a second. */
export const measureFires: RateLoad = async ({ subject: name, rate, quick }) => {
  const [chains, part] = quick ? [1000, 0.02] : [rate, 1];
  const fires = new Fires(chains);
  fires.subject = await createRateTimers(name, chains + SINGLE, fires.onFire);
  await fires.subject.ready;
  const isDriver = name === DRIVER;
  const stretch = async (seconds: number): Promise<Figures> => {
    const meter = new UsageMeter();
    meter.start();
    const before = fires.fired;
    fires.lateness = new LatenessHistogram();
    await sleep(seconds * 1000);
    if (isDriver) fires.perform(chains * seconds);
    const used = meter.figures(fires.fired - before);
    if (isDriver) return used;
    const { p50, p99 } = fires.lateness.summary();
    return { ...used, p50, p99 };
  };
  if (!isDriver) await fires.fireSingle(1, 1);
  fires.set();
  const cold = await stretch(COLD * part);
  if (!isDriver) for (let lot = 0; lot < LOTS * part; lot++) await fires.fireSingle(SINGLE, APART);
  const warm = await stretch(WARM * part);
  if (!isDriver) await fires.close();
  return { ...named('cold', cold), ...named('warm', warm) };
};

const named = (name: string, figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).map(([key, value]) => [`${key}, ${name}`, value]));
