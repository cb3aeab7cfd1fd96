import type { TimerLabel } from 'shardwheel';
import { badValues } from '../fixtures/bad-values.ts';
import { anId, codes, places } from './argument-places.ts';
import type { Operation } from './contract-operations.ts';
import { ContractStarts } from './contract-starts.ts';
import type { ContractWorld } from './contract-world.ts';

/** Every wrong value in every place: none may change anything. */
const hostileCalls = places.flatMap((place) =>
  badValues.filter(({ value }) => place.rule === anId || !place.rule.isGood(value)).map((bad) => ({ place, bad })),
);

/** No timer's. */
const STRANGE_ID = 7;

/** The calls that answer at once, each made of scheduler and model. */
export class ContractCalls {
  readonly starts: ContractStarts;
  /** Of calls, those in callbacks too. */
  count = 0;
  private readonly world: ContractWorld;

  private readonly runs: Partial<Record<Operation['kind'], (operation: Operation, isLast: boolean) => void>> = {
    many: (operation) => this.starts.startMany(operation),
    cancel: ({ a }) => this.cancel(a),
    cancelMany: ({ a }) => this.cancelMany(a),
    cancelGroup: ({ a, b }) => this.cancelGroup(a, b),
    move: (operation) => this.move(operation),
    query: ({ a }) => this.query(a),
    dispose: ({ a }) => this.dispose(a),
    abort: ({ a }) => this.abort(a),
    settle: ({ a, b }, isLast) => isLast && this.settle(a, b),
    scale: (operation) => this.scale(operation),
    hostile: (operation) => this.callHostile(operation),
    ref: ({ a }) => this.setRef(a % 2 === 0),
    close: () => this.world.close(),
    dropIn: (operation) => this.world.dropIns.start(operation, this.runInner),
    dropInWait: (operation) => this.startDropInWait(operation),
    dropInClear: ({ a, b }) => this.world.dropIns.clear(a, b),
    dropInRefresh: ({ a }) => this.world.dropIns.refresh(a),
    dropInRef: ({ a, b }) => this.world.dropIns.setRef(a, b),
  };

  constructor(world: ContractWorld) {
    this.world = world;
    this.starts = new ContractStarts(world, this.runInner);
  }

  /** `isLast`: nothing is done after it before reactions run. */
  run(operation: Operation, isLast: boolean): void {
    if (this.world.closing !== undefined) return;
    this.count += 1;
    const run = this.runs[operation.kind];
    if (run === undefined) this.starts.start(operation);
    else run(operation, isLast);
  }

  private readonly runInner = (calls: readonly Operation[]): void => {
    for (const [i, operation] of calls.entries()) this.run(operation, i === calls.length - 1);
  };

  private startDropInWait(operation: Operation): void {
    const { dropIns, waits } = this.world;
    const outer = operation.c % 2 === 0 ? waits.outers[operation.b % waits.outers.length] : undefined;
    dropIns.startWait(operation, outer, this.runInner);
  }

  private setRef(isRef: boolean): void {
    const { scheduler } = this.world;
    this.world.isRef = isRef;
    if (isRef) scheduler.ref();
    else scheduler.unref();
  }

  private cancel(a: number): void {
    const { world } = this;
    const timer = world.pick(a);
    const isLive = world.end(timer, 'ABORT_ERR');
    world.expectSame('cancel', world.scheduler.cancel(timer?.id ?? STRANGE_ID), isLive);
  }

  private cancelMany(a: number): void {
    const { world } = this;
    const timers = [0, 1, 2, 0].map((i) => world.pick(a + i));
    const count = timers.filter((timer) => world.end(timer, 'ABORT_ERR')).length;
    const ids = timers.map((timer) => timer?.id ?? STRANGE_ID);
    world.expectSame('cancelMany', world.scheduler.cancelMany(ids), count);
  }

  private cancelGroup(a: number, b: number): void {
    const { world } = this;
    const at = a % world.groups.length;
    const group = world.groups[at];
    const timers = [...world.model.live.values()].filter((timer) => timer.group === at);
    if (b % 4 < 2) world.expectSame('group.size', group.size, timers.length); // it forgets stale ids
    if (b % 4 === 0) return;
    for (const timer of timers) world.end(timer, 'ABORT_ERR');
    world.expectSame('cancelAll', group.cancelAll(), timers.length);
  }

  private move({ a, b, by }: Operation): void {
    const { model, scheduler, unit } = this.world;
    const timer = this.world.pick(a);
    const live = model.live.get(timer?.id ?? STRANGE_ID);
    // Far in the past the points of a grid that is no sum of quarters are not exact.
    const delay = live?.kind === 'repeating' ? Math.abs(by * unit) : by * unit;
    const id = timer?.id ?? STRANGE_ID;
    const deadline = model.now + delay;
    const isMoved = b % 2 === 0 ? scheduler.reschedule(id, deadline) : scheduler.rescheduleAfter(id, delay);
    this.world.expectSame('reschedule', isMoved, model.move(live, deadline));
  }

  private query(a: number): void {
    const { model, scheduler } = this.world;
    const id = this.world.pick(a)?.id ?? STRANGE_ID;
    this.world.expectSame('has', scheduler.has(id), model.live.has(id));
    this.world.expectSame('deadlineOf', scheduler.deadlineOf(id), model.live.get(id)?.deadline);
  }

  private dispose(a: number): void {
    const { model, waits } = this.world;
    const signals = [...model.live.values()].filter(({ kind }) => kind === 'signal');
    const timer = signals[a % signals.length];
    const wait = timer && waits.of(timer);
    if (wait === undefined) return;
    this.world.end(timer, undefined);
    wait.signal?.[Symbol.dispose]();
  }

  private abort(a: number): void {
    const { dropIns, model, waits } = this.world;
    const at = a % waits.outers.length;
    const outer = waits.outers[at];
    if (outer.signal.aborted) {
      waits.outers[at] = new AbortController();
      return;
    }
    for (const timer of [...model.live.values()]) {
      if (timer.outer === outer) this.world.end(timer, timer.kind === 'signal' ? 'outer' : 'ABORT_ERR');
    }
    dropIns.abort(outer);
    outer.abort({ code: 'outer' });
  }

  /** Ends the work of a `withTimeout`, or the promise of a call that may not be overlapped. */
  private settle(a: number, b: number): void {
    const { model, waits } = this.world;
    const waiting = [...model.live.values()].filter(
      (timer) => timer.kind === 'withTimeout' || (timer.isPending && !model.isOpen(timer)),
    );
    const timer = waiting[a % waiting.length];
    if (timer === undefined) return;
    if (timer.kind === 'repeating') {
      timer.isPending = false;
      this.starts.pending.get(timer)?.();
      return;
    }
    const settle = waits.of(timer)?.settle;
    const fails = b % 2 === 0;
    this.world.end(timer, fails ? 'failed' : 'settled');
    settle?.(fails);
  }

  private scale({ a, b, c }: Operation): void {
    const { labels, model } = this.world;
    const scaled = labels.filter(([{ min }]) => min !== undefined);
    const [label, starts] = scaled[a % scaled.length];
    const factor = (b % 5) / 4;
    if (factor !== label.factor) model.rescale(label, factor);
    void (starts as TimerLabel).setScale(factor, { everywhere: c % 2 === 0 }); // with a manual clock at once
  }

  private callHostile({ a, b, c }: Operation): void {
    const { place, bad } = hostileCalls[(a * b + c) % hostileCalls.length];
    const { name, rule, answer } = place;
    const live = this.world.pick(a)?.id ?? STRANGE_ID;
    let told: unknown;
    try {
      told = ['answer', place.call(this.world.scheduler, bad.value as never, live)];
    } catch (error) {
      const { code } = error as { code?: string };
      // Before it comes to the wrong value it starts timers, which may be too many.
      told = ['code', code === 'ERR_CAPACITY_EXCEEDED' && name.includes('[]') ? codes.get(rule.error) : code];
    }
    const expected = rule === anId ? ['answer', answer] : ['code', codes.get(rule.error)];
    this.world.expectSame(`${name}: ${bad.name}`, told, expected);
  }
}
