import type { Timeout } from 'shardwheel/timers';
import type { Operation } from './contract-operations.ts';
import { delayOf, newDropIn } from './drop-in-model.ts';
import { codeOf, type Held, HeldDropIns } from './held-drop-ins.ts';

/** Delays that no sum of quarters is, those too that are no numbers. */
const ODD_DELAYS = [undefined, null, Number.NaN, '7', 'x', 2 ** 31 - 1, 2 ** 31, Number.POSITIVE_INFINITY, 1.999, 0];

/** Sets drop-in timers, awaits them, and has their callbacks do what the program says. */
export class ContractDropIns extends HeldDropIns {
  /** Whether calls will come for as long as the clock goes. */
  get repeats(): boolean {
    return [...this.model.live].some(({ kind }) => kind === 'interval' || kind === 'each');
  }

  /** Sets a timeout or an interval. `runCalls`: does what the callback does. */
  start({ a, b, by, calls, throws }: Operation, runCalls: (calls: readonly Operation[]) => void): void {
    const { face, model, options, world } = this;
    const kind = a % 3 === 0 ? 'interval' : 'timeout';
    if (kind === 'interval' && !world.mayRepeat) return;
    const delay = this.drawDelay(a, b, by);
    const timer = newDropIn(kind, delayOf(delay, options.longDelays), true);
    const held: Held = { timer, handle: undefined, outer: undefined, told: [] };
    const given = Array.from({ length: b % 3 }, () => timer);
    const callback = function (this: unknown, ...got: unknown[]) {
      world.expectSame('the arguments of a drop-in timer', got.length, given.length);
      if (got.some((each) => each !== timer)) world.faults.push('a drop-in timer has other arguments');
      if (this !== held.handle) world.faults.push("a drop-in timer's callback has another object");
      run();
    };
    const run = () => this.called(held, () => runCalls(calls), throws);
    const set = kind === 'timeout' ? face.setTimeout : face.setInterval;
    const isFull = !model.set(timer, world.scheduler.now());
    try {
      held.handle = set(callback, delay as number, ...given) as unknown as Timeout;
      this.all.push(held);
    } catch (error) {
      world.expectSame('a drop-in timer is refused', codeOf(error), isFull ? 'ERR_CAPACITY_EXCEEDED' : undefined);
      return;
    }
    if (isFull) world.faults.push('a drop-in timer is set beyond the capacity');
  }

  /** Awaits a timeout, or the calls of an interval. `outer` may abort it. */
  startWait(
    { a, b, c, by, calls }: Operation,
    outer: AbortController | undefined,
    runCalls: (calls: readonly Operation[]) => void,
  ): void {
    const { face, model, options, world } = this;
    const kind = a % 2 === 0 ? 'each' : 'sleep';
    if (kind === 'each' && !world.mayRepeat) return;
    const ms = Math.max(0, by * world.unit);
    const isWait = kind === 'sleep' && b % 2 === 0; // which knows no `ref` on each release
    const ref = isWait || c % 4 > 0;
    const timer = newDropIn(kind, delayOf(ms, options.longDelays), ref);
    const held: Held = { timer, handle: undefined, outer, told: [] };
    const isAborted = outer?.signal.aborted === true;
    const isSet = !isAborted && model.set(timer, world.scheduler.now());
    const signal = outer?.signal;
    const run = () => this.called(held, () => runCalls(calls), false);
    if (kind === 'each') {
      void this.follow(held, this.each(held, face.promises.setInterval(ms, timer, { signal, ref }), 1 + (b % 4), run));
    } else {
      const slept = isWait
        ? face.promises.scheduler.wait(ms, { signal })
        : face.promises.setTimeout(ms, timer, { signal, ref });
      void this.follow(
        held,
        slept.then((value) => {
          if (value !== (isWait ? undefined : timer)) world.faults.push('a sleep has another value');
          if (held.expected !== undefined) return 'slept';
          this.end(held, 'slept');
          run();
          return 'slept';
        }),
      );
    }
    if (!isSet) {
      this.end(held, isAborted ? 'ABORT_ERR' : 'ERR_CAPACITY_EXCEEDED');
      return;
    }
    this.all.push(held);
    const known = new Set(this.all.map(({ handle }) => handle));
    for (const { id, argument } of world.scheduler.liveTimers()) {
      if (id === undefined && !known.has(argument as Timeout)) held.handle = argument as Timeout;
    }
  }

  private drawDelay(a: number, b: number, by: number): unknown {
    return b % 8 === 0 ? ODD_DELAYS[a % ODD_DELAYS.length] : by * this.world.unit;
  }

  /** A callback runs, or what waits for its call. */
  private called(held: Held, runCalls: () => void, throws: boolean): void {
    const { model, world } = this;
    const { timer } = held;
    if (world.closing !== undefined) {
      world.faults.push(`a drop-in ${timer.kind} is called after close`);
      return;
    }
    const now = world.scheduler.now();
    world.come(now);
    const fault = model.deliver(timer, now, world.isJump);
    if (fault !== undefined) world.faults.push(fault);
    if (timer.kind === 'each') this.setNext(held, now); // the interval's own callback has run
    timer.isRunning = timer.kind === 'timeout' || timer.kind === 'interval';
    runCalls();
    timer.isRunning = false;
    const isOver = timer.isCleared || model.live.has(timer) || world.closing !== undefined;
    if (timer.kind === 'interval' && !isOver) this.setNext(held, now);
    if (!throws) return;
    const error = new Error('thrown by a drop-in callback');
    this.thrown.push(error);
    throw error;
  }

  private setNext(held: Held, begun: number): void {
    if (this.model.setNext(held.timer, begun)) return;
    if (held.timer.kind === 'each') this.leave(held, 'ERR_CAPACITY_EXCEEDED');
    else this.thrown.push('ERR_CAPACITY_EXCEEDED');
  }

  /** Takes so many calls of an interval. */
  private async each(held: Held, calls: AsyncIterable<unknown>, most: number, run: () => void): Promise<string> {
    let left = most;
    for await (const value of calls) {
      if (value !== held.timer) this.world.faults.push('an interval has another value');
      run();
      left -= 1;
      if (left > 0) continue;
      this.leave(held, 'done');
      held.expected = 'done'; // whatever has ended it meanwhile
      break;
    }
    return 'done';
  }

  private async follow({ told }: Held, promise: Promise<string>): Promise<void> {
    told.push(await promise.catch(codeOf));
  }
}
