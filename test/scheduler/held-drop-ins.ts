import nodeTimers from 'node:timers';
import type { Scheduler } from 'shardwheel';
import { createTimers, type Timeout } from 'shardwheel/timers';
import { type DropIn, DropInModel, type DropInOptions } from './drop-in-model.ts';

/** A drop-in timer of a program, and what its promise has told. */
export interface Held {
  readonly timer: DropIn;
  handle: Timeout | undefined;
  readonly outer: AbortController | undefined;
  readonly told: string[];
  /** What it should have been told, once it has ended. */
  expected?: string;
}

/** What a program runs in, as far as drop-in timers see it. */
export interface DropInSurroundings {
  readonly scheduler: Scheduler;
  readonly faults: string[];
  /** ms: a quarter of a tick. */
  readonly unit: number;
  readonly mayRepeat: boolean;
  readonly isJump: boolean;
  readonly closing: unknown;
  /** Something is delivered at a time. */
  come(now: number): void;
  expectSame(what: string, given: unknown, wanted: unknown): void;
}

export const codeOf = (error: unknown): string => String((error as { code?: string } | undefined)?.code);

/** The drop-in timers of a program: what it does to those that it has, and what is compared with the model. */
export class HeldDropIns {
  readonly model: DropInModel;
  /** Errors on their way to the process: one of a callback, or the code of a refusal. */
  readonly thrown: unknown[] = [];
  protected readonly world: DropInSurroundings;
  protected readonly options: DropInOptions;
  protected readonly face: ReturnType<typeof createTimers>;
  protected readonly all: Held[] = [];
  private ended: Held[] = [];

  constructor(world: DropInSurroundings, tick: number, slack: number, capacity: number, options: DropInOptions) {
    this.world = world;
    this.options = options;
    this.model = new DropInModel(tick, slack, capacity, options);
    this.face = createTimers(world.scheduler, options);
  }

  get hasEnded(): boolean {
    return this.ended.length > 0;
  }

  /** Clears one, in one of the ways. */
  clear(a: number, b: number): void {
    const held = this.pick(a);
    if (held === undefined) return;
    const { handle, timer } = held;
    const { clearTimeout, clearInterval } = this.face;
    const isOfNode = handle as unknown as NodeJS.Timeout;
    const isLive = this.model.live.has(timer);
    const way = b % 8;
    const lives = isLive || timer.isRunning;
    if (way === 4 && !lives) return; // Node takes the callback then, and leaves the rest
    // Its number is one as long as it lives.
    if (way < 4 || lives) {
      this.model.clear(timer);
      this.end(held, 'ABORT_ERR');
    }
    if (way === 0) clearTimeout(isOfNode);
    else if (way === 1) clearInterval(isOfNode);
    else if (way === 2) handle?.close();
    else if (way === 3) handle?.[Symbol.dispose]();
    else if (way === 4) nodeTimers.clearTimeout(isOfNode);
    else if (way === 5) clearTimeout(Number(handle));
    else if (way === 6) clearInterval(`${Number(handle)}`);
    else nodeTimers.clearTimeout(Number(handle));
  }

  refresh(a: number): void {
    const held = this.pick(a);
    if (held === undefined) return;
    const { handle, timer } = held;
    const { live } = this.model;
    const isAwaited = timer.kind === 'sleep' || timer.kind === 'each';
    if (!live.has(timer) && (isAwaited || !this.world.mayRepeat)) return;
    const isTaken = this.model.refresh(timer, this.world.scheduler.now());
    let code: string | undefined;
    try {
      handle?.refresh();
    } catch (error) {
      code = codeOf(error);
    }
    this.world.expectSame('refresh', code, isTaken ? undefined : 'ERR_CAPACITY_EXCEEDED');
  }

  setRef(a: number, b: number): void {
    const held = this.pick(a);
    if (held === undefined) return;
    const { handle, timer } = held;
    timer.isRef = b % 2 === 0;
    if (timer.isRef) handle?.ref();
    else handle?.unref();
  }

  /** An outer signal is about to abort. */
  abort(outer: AbortController): void {
    for (const held of this.all) {
      if (held.outer === outer && this.isWaiting(held)) this.leave(held, 'ABORT_ERR');
    }
  }

  close(): void {
    for (const held of this.all) {
      if (this.isWaiting(held)) this.end(held, 'ERR_SCHEDULER_CLOSED');
    }
  }

  /** Whether one of them listens to an outer signal. */
  listensTo(outer: AbortController): boolean {
    return this.all.some((held) => held.outer === outer && this.isWaiting(held));
  }

  /** Compares what promises have told. Precondition: all reactions have run. */
  compareTold(): void {
    const { faults } = this.world;
    for (const { timer, told, expected } of this.ended) {
      if (told.join() !== expected) faults.push(`a drop-in ${timer.kind} is told '${told}', not '${expected}'`);
    }
    this.ended = [];
  }

  /** Compares what handles say of themselves. */
  compareHandles(): void {
    const { faults } = this.world;
    for (const { handle, timer } of this.all) {
      if (handle?.hasRef() !== timer.isRef) faults.push(`hasRef of a ${timer.kind}: ${handle?.hasRef()}`);
      const isLive = this.model.live.has(timer);
      if (handle?._destroyed === isLive) faults.push(`_destroyed of a ${timer.kind}: ${handle?._destroyed}`);
    }
  }

  /** What a closed scheduler answers. */
  compareClosed(): void {
    for (const { handle } of this.all) this.face.clearTimeout(handle as unknown as NodeJS.Timeout);
    let code: string | undefined;
    try {
      this.face.setTimeout(() => undefined, 1);
    } catch (error) {
      code = codeOf(error);
    }
    this.world.expectSame('setTimeout after close', code, 'ERR_SCHEDULER_CLOSED');
    if (this.all.some(({ handle }) => handle?._destroyed === false)) this.world.faults.push('one lives after close');
  }

  /** What the process has been told. */
  compareErrors(errors: unknown[]): void {
    const told = errors.splice(0);
    for (const error of told) {
      const at = this.thrown.findIndex((each) => each === error || each === codeOf(error));
      if (at < 0) this.world.faults.push(`an uncaught error: ${error}`);
      else this.thrown.splice(at, 1);
    }
    if (this.thrown.length > 0) this.world.faults.push(`no word of ${this.thrown}`);
  }

  /** Any, or one that is live. */
  private pick(a: number): Held | undefined {
    const from = a % 3 === 0 ? this.all : this.all.filter(({ timer }) => this.model.live.has(timer) || timer.isRunning);
    return from[(a >> 1) % from.length];
  }

  /** Whether its promise is pending. */
  private isWaiting({ timer, expected }: Held): boolean {
    return expected === undefined && (timer.kind === 'sleep' || timer.kind === 'each');
  }

  protected end(held: Held, expected: string): void {
    const { kind } = held.timer;
    if (held.expected !== undefined || kind === 'timeout' || kind === 'interval') return;
    held.expected = expected;
    this.ended.push(held);
  }

  /** A promise is settled otherwise than by its time: its timer goes. */
  protected leave(held: Held, expected: string): void {
    this.model.clear(held.timer);
    this.end(held, expected);
  }
}
