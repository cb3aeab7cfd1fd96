import type { WheelConfig } from '../../src/wheel/wheel-config.ts';

interface ModelTimer {
  name: number;
  deadline: number;
  /** Tick of handing over. */
  tick: number;
  filed: number;
}

/** No clock comes to it: what is due then waits for ever. */
const END = 2 ** 53 - 1;

/**
 * What a wheel must do, said as plainly as can be: one array, searched from end to end. Integer times only, so that
 * rounding is integer arithmetic. Shares no code with the wheels; timers go by names that the caller picks.
 */
export class ModelWheel {
  tick = 0;
  now: number;
  private timers: ModelTimer[] = [];
  private filings = 0;
  private readonly precision: number;
  private readonly start: number;
  private readonly config: WheelConfig;

  constructor(config: WheelConfig, start: number) {
    this.config = config;
    this.start = start;
    this.now = start;
    this.precision = config.engine === 'cascading' ? config.precision : config.levels[0].precision;
  }

  /** The first time that no clock reaches. */
  get end(): number {
    return this.start + END * this.precision;
  }

  get lastTime(): number {
    return this.start + (END - 1) * this.precision;
  }

  /** Whether times up to the end are integers that a number holds. */
  get isExact(): boolean {
    return this.start === 0 && Number.isInteger(Math.log2(this.precision));
  }

  get size(): number {
    return this.timers.length;
  }

  /** 'past' or 'far' where the wheel must refuse the deadline. */
  refusal(deadline: number): 'past' | 'far' | undefined {
    const interval = Math.floor((deadline - this.start) / this.precision);
    if (deadline >= this.start + this.lastTick() * this.precision) return 'far';
    if (this.config.past === 'throw' && interval < Math.floor((this.now - this.start) / this.precision)) return 'past';
    return undefined;
  }

  schedule(name: number, deadline: number): void {
    this.timers.push({ name, deadline, tick: this.placed(deadline), filed: this.filings++ });
  }

  reschedule(name: number, deadline: number): void {
    this.cancel(name);
    this.schedule(name, deadline);
  }

  cancel(name: number): void {
    this.timers = this.timers.filter((timer) => timer.name !== name);
  }

  deadlineOf(name: number): number | undefined {
    return this.timers.find((timer) => timer.name === name)?.deadline;
  }

  names(): number[] {
    return this.timers.map((timer) => timer.name);
  }

  /** The timer that must fire next in advancing to `to`, which it fires; undefined when there is none. */
  fireNext(to: number): ModelTimer | undefined {
    const first = this.first();
    if (first === undefined || first.tick > Math.floor((to - this.start) / this.precision)) return undefined;
    this.cancel(first.name);
    this.tick = Math.max(this.tick, first.tick);
    this.now = this.start + first.tick * this.precision;
    return first;
  }

  /** Everything due has been fired. */
  arrive(to: number): void {
    this.tick = Math.max(this.tick, Math.floor((to - this.start) / this.precision));
    this.now = Math.max(this.now, to);
  }

  nextExpiration(): number | undefined {
    const first = this.first();
    return first === undefined || first.tick >= END ? undefined : this.start + first.tick * this.precision;
  }

  clear(): void {
    this.timers = [];
  }

  private first(): ModelTimer | undefined {
    let first: ModelTimer | undefined;
    for (const timer of this.timers) {
      if (first === undefined || timer.tick < first.tick || (timer.tick === first.tick && timer.filed < first.filed)) {
        first = timer;
      }
    }
    return first;
  }

  private due(deadline: number): number {
    const ticks = (deadline - this.start) / this.precision;
    const next = this.config.engine === 'cascading' && this.config.rounding === 'next';
    return next ? Math.floor(ticks) + 1 : Math.ceil(ticks);
  }

  /** The tick whose start is the first deadline refused. */
  private lastTick(): number {
    if (this.config.engine === 'cascading' && this.config.overflow !== 'throw') return Number.POSITIVE_INFINITY;
    return Math.min(this.range(), END - 1);
  }

  /** Where the levels end. */
  private range(): number {
    if (this.config.engine === 'pinned') {
      const { precision, spokes } = this.config.levels[this.config.levels.length - 1];
      const width = precision / this.precision;
      return (Math.floor(this.tick / width) + spokes - 1) * width;
    }
    return this.tick + 2 ** this.config.levelBits.reduce((sum, bits) => sum + bits, 0);
  }

  private placed(deadline: number): number {
    const due = Math.max(this.due(deadline), this.tick + 1);
    if (this.config.engine === 'cascading') return Math.min(due, END);
    for (const { precision, spokes } of this.config.levels) {
      const width = precision / this.precision;
      const round = Math.ceil(due / width);
      if (round - Math.floor(this.tick / width) < spokes) return round * width;
    }
    throw new Error('out of reach');
  }
}
