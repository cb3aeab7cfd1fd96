import * as nodes from 'node:timers';
import { xorshift } from '../../../bench/replay/xorshift.ts';
import type { TimerCosts } from '../../../src/extras/profile/report-data.ts';

export interface Assignment {
  timers: 'node' | 'shardwheel';
  live: number;
  /** ms; those that the program uses most. */
  delays: number[];
}

type Functions = Pick<typeof nodes, 'setTimeout' | 'clearTimeout'>;

/**
 * ms that each operation is measured for, ms between setting and clearing that make a timer old, operations in a turn.
 */
const TIME = 120;
const OLD = 12;
const OLD_TIME = 150;
/** Most of them that are live at a time. */
const RING = 32_768;
/** ms until timers that have been set are filed. */
const FILED = 20;
const BATCH = 250;
const MIN_TURNS = 100;
const FIRED = 20_000;
/** The loop has settled when it was mostly idle for several spans of some ms. Patience is in ms as well. */
const QUIET = 2;
const SPAN = 20;
const PATIENCE = 1000;
/** ms. What is to live must not fire meanwhile. */
const FAR = 600_000;

const nothing = (): void => undefined;
const nextTurn = (): Promise<void> => new Promise((resolve) => nodes.setImmediate(resolve));
const median = (values: number[]): number => values.sort((one, other) => one - other)[values.length >> 1];

/** Runs of a measurement until its code is compiled, and as many again that count. */
const RUNS = 5;

/** The median of those that count. */
async function warm(measurement: () => Promise<number>): Promise<number> {
  const costs: number[] = [];
  for (let run = 0; run < 2 * RUNS; run++) costs.push(await measurement());
  return median(costs.slice(RUNS));
}

class Measurement {
  private readonly timers: Functions;
  private readonly delays: number[];
  private readonly live: NodeJS.Timeout[];
  private state = 1;

  constructor(timers: Functions, live: number, delays: number[]) {
    this.timers = timers;
    this.delays = delays;
    this.live = Array.from({ length: live }, (_, at) => timers.setTimeout(nothing, FAR + delays[at % delays.length]));
  }

  private below(limit: number): number {
    this.state = xorshift(this.state);
    return (this.state >>> 0) % limit;
  }

  /** ns per operation of a turn's batch, the loop's own turn taken off. Median of the turns. */
  private async inTurns(operation: (at: number) => void): Promise<number> {
    const costs: number[] = [];
    let begun = performance.now();
    const end = begun + TIME;
    const giveUp = begun + PATIENCE;
    let at = 0;
    while (begun < end || (costs.length < MIN_TURNS && begun < giveUp)) {
      for (let i = 0; i < BATCH; i++) operation(at++);
      await nextTurn();
      const now = performance.now();
      costs.push(((now - begun) / BATCH) * 1e6);
      begun = now;
    }
    return median(costs);
  }

  async costs(): Promise<TimerCosts> {
    const { timers, delays } = this;
    await this.settle();
    const idle = await this.inTurns(nothing);
    const young = await this.inTurns((at) =>
      timers.clearTimeout(timers.setTimeout(nothing, FAR + delays[at % delays.length])),
    );
    const old = await warm(() => this.oldPair());
    const refresh = await this.inTurns(() => void this.live[this.below(this.live.length)].refresh());
    const fire = await warm(() => this.firing());
    for (const timer of this.live) timers.clearTimeout(timer);
    const beyond = (cost: number): number => Math.max(1, cost - idle);
    return { young: beyond(young), old: beyond(old), refresh: beyond(refresh), fire: Math.max(1, fire) };
  }

  /** Until what follows from setting those that live is done: its turns would count for what is measured next. */
  private async settle(): Promise<void> {
    const end = performance.now() + PATIENCE;
    for (let quiet = 0; quiet < QUIET && performance.now() < end; ) {
      const begun = performance.now();
      await new Promise((resolve) => nodes.setTimeout(resolve, 1));
      const idle = performance.nodeTiming.idleTime;
      await new Promise((resolve) => nodes.setTimeout(resolve, SPAN));
      const isQuiet = performance.nodeTiming.idleTime - idle > (performance.now() - begun) / 2;
      quiet = isQuiet ? quiet + 1 : 0;
    }
  }

  /** Sets a timer, and clears one that was set some ms ago. Median of spans that are long enough for bursts. */
  private async oldPair(): Promise<number> {
    const { timers, delays } = this;
    const ring = new Array<NodeJS.Timeout | undefined>(RING).fill(undefined);
    const setAt = new Float64Array(RING);
    const costs: number[] = [];
    let [first, aged, next] = [0, 0, 0];
    let [pairs, time] = [0, 0];
    const end = performance.now() + OLD_TIME;
    for (let begun = performance.now(); begun < end; ) {
      for (let i = 0; i < BATCH && next - first < RING; i++) {
        ring[next % RING] = timers.setTimeout(nothing, FAR + delays[i % delays.length]);
        setAt[next % RING] = begun;
        next += 1;
      }
      while (aged < next && begun - setAt[aged % RING] >= OLD) aged += 1;
      let cleared = 0;
      while (first < aged && cleared < BATCH) {
        // Not in the order in which they were set: programs have no such order.
        const chosen = (first + this.below(aged - first)) % RING;
        timers.clearTimeout(ring[chosen]);
        ring[chosen] = ring[first % RING];
        ring[first % RING] = undefined;
        first += 1;
        cleared += 1;
      }
      await nextTurn();
      const now = performance.now();
      if (cleared === BATCH) {
        pairs += BATCH;
        time += now - begun;
      }
      if (time > OLD) {
        costs.push((time / pairs) * 1e6);
        [pairs, time] = [0, 0];
      }
      begun = now;
    }
    for (const timer of ring) timers.clearTimeout(timer);
    return costs.length > 0 ? median(costs) : (time / Math.max(pairs, 1)) * 1e6;
  }

  /** Timers due within 100 ms of each other: what the loop was busy for, once they are set and filed. */
  private async firing(): Promise<number> {
    let left = FIRED;
    let onLast: () => void = nothing;
    const fired = (): void => {
      left -= 1;
      if (left === 0) onLast();
    };
    for (let at = 0; at < FIRED; at++) this.timers.setTimeout(fired, 2 * FILED + (at % 100));
    await new Promise((resolve) => nodes.setTimeout(resolve, FILED));
    const idleBefore = performance.nodeTiming.idleTime;
    const begun = performance.now();
    const ofThese = left;
    await new Promise<void>((resolve) => {
      onLast = resolve;
    });
    const idle = performance.nodeTiming.idleTime - idleBefore;
    return ((performance.now() - begun - idle) / ofThese) * 1e6;
  }
}

async function measure({ timers: name, live, delays }: Assignment): Promise<TimerCosts> {
  const timers: Functions = name === 'node' ? nodes : (await import('shardwheel/timers')).default;
  const measurement = new Measurement(timers, live, delays);
  await nextTurn();
  return measurement.costs();
}

/**
 * The process that measures what timers cost on this machine. The assignment names the timers and how many are to live.
 * Answers with one message, the ns per operation.
 */
export async function timerCosts(assignment: string): Promise<void> {
  process.send?.(await measure(JSON.parse(assignment)));
  process.disconnect?.();
}
