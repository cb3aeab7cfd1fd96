import type { TimerLabel } from 'shardwheel';
import type { ModelLabel, ModelTimer } from './contract-model.ts';
import type { Operation } from './contract-operations.ts';
import type { ContractWorld } from './contract-world.ts';

const HINTS = 6;

/** What callbacks throw. */
const THROWN = new Error('thrown by a callback');

const newTimer = (kind: ModelTimer['kind'], shard: number, label: ModelLabel): ModelTimer => ({
  ...{ kind, shard, label, group: undefined, outer: undefined, holds: label.ref },
  ...{ id: Number.NaN, sequence: 0, deadline: 0, due: 0, earliest: 0, full: 0, isMoved: false },
  ...{ period: undefined, missedCalls: undefined, start: 0, call: 0, isPending: false, isLate: false },
});

/** Starts timers of all kinds, and has their callbacks do what the program says. */
export class ContractStarts {
  /** By repeating timer: settles the promise that its last call returned. */
  readonly pending = new Map<ModelTimer, () => void>();
  private readonly world: ContractWorld;
  private readonly runCalls: (calls: readonly Operation[]) => void;
  /** Errors on their way. */
  private readonly thrown: { readonly timer: ModelTimer; readonly deadline: number }[] = [];

  constructor(world: ContractWorld, runCalls: (calls: readonly Operation[]) => void) {
    const { faults, scheduler } = world;
    this.world = world;
    this.runCalls = runCalls;
    scheduler.on('fired', ({ args, deadlines, ids, length }) => {
      for (let i = 0; i < length; i++) {
        const timer = world.model.live.get(ids[i]);
        world.expectSame('deadline in a batch', deadlines[i], timer?.deadline);
        if (args[i] !== undefined && args[i] !== timer) faults.push(`${ids[i]} has another argument`);
        if (timer === undefined) faults.push(`${ids[i]} is not live, and in a batch`);
        else this.delivered(timer, []);
      }
    });
    scheduler.on('error', (error, failed) => {
      if ((error as { code?: string }).code === 'ERR_SHARD_INLINE') return;
      const { deadline, timer } = this.thrown.pop() ?? {};
      if (error !== THROWN || failed?.argument !== timer) faults.push(`an error: ${error}`);
      world.expectSame(
        'failed timer',
        [failed?.id, failed?.label, failed?.deadline],
        [timer?.id, timer?.label.name, deadline],
      );
    });
  }

  /** Errors that were thrown and not told. */
  get untold(): number {
    return this.thrown.length;
  }

  start(operation: Operation): void {
    const { kind } = operation;
    if (kind === 'every') {
      if (this.world.mayRepeat) this.startRepeating(operation);
    } else if (kind === 'start') this.startOne(operation);
    else this.startWait(operation, kind as 'sleep' | 'withTimeout' | 'signal');
  }

  startMany({ a, b, by }: Operation): void {
    const { capacity, labels, model, scheduler, unit } = this.world;
    const deadlines = Array.from({ length: b % 20 }, (_, i) => model.now + (by + i) * unit);
    const hint = a % HINTS;
    const shard = scheduler.shardOf(hint);
    const plain = labels[labels.length - 1][0];
    const isFull = model.countOf(shard) + deadlines.length > capacity;
    const start = () => scheduler.scheduleMany(new Array(deadlines.length).fill(hint), deadlines);
    const ids = this.unlessRefused(isFull, start) ?? [];
    for (const [i, id] of ids.entries()) this.begun({ ...newTimer('batch', shard, plain), id }, deadlines[i]);
  }

  private startOne({ a, b, c, by, calls, throws }: Operation): void {
    const { model, scheduler, unit } = this.world;
    const { group, hint, isFull, label, shard, starts } = this.place(a, b, c % 3 === 0);
    const isPlain = calls.length === 0 && !throws;
    const timer = { ...newTimer(isPlain ? 'batch' : 'callback', shard, label), group };
    const callback = isPlain ? undefined : (_: ModelTimer, id: number) => this.called(timer, id, calls, throws);
    const delay = by * unit;
    const deadline = model.now + delay;
    const start = () => {
      if (starts === scheduler && typeof hint === 'object' && a % 3 === 0)
        return hint.scheduleAfter(delay, callback, timer);
      return a % 2 === 0
        ? starts.schedule(hint, deadline, callback, timer)
        : starts.scheduleAfter(hint, delay, callback, timer);
    };
    const id = this.unlessRefused(isFull, start);
    if (id !== undefined) this.begun(Object.assign(timer, { id }), deadline);
  }

  private startRepeating({ a, b, c, by, calls, throws }: Operation): void {
    const { model, unit } = this.world;
    // What an overlapped call does is not seen when it is due: the label has no slack, and no group ends the timer at
    // any time.
    const overlap = c % 4 > 0;
    const { group, hint, isFull, label, shard, starts } = this.place(a, overlap ? b : 0, overlap && c % 3 === 0);
    // Three in four are whole quarters of a tick.
    const period = unit * (4 + (b % 40) + (a % 4 === 0 ? 1.3 : 0));
    const missedCalls = (['skip', 'burst', 'delay'] as const)[a % 3];
    const timer = { ...newTimer('repeating', shard, label), group, period, missedCalls };
    const isPlain = overlap && calls.length === 0 && !throws;
    const returns = !overlap && a % 5 > 0;
    const callback = (_: ModelTimer, id: number) => this.called(timer, id, calls, throws, returns);
    const first = by < 0 ? undefined : by * unit;
    const options = { missedCalls, overlap, first };
    const start = () => starts.scheduleEvery(hint, period, isPlain ? undefined : callback, timer, options);
    const id = this.unlessRefused(isFull, start);
    if (id !== undefined) this.begun(Object.assign(timer, { id }), model.now + (first ?? period));
  }

  private startWait({ a, b, c, by, calls }: Operation, kind: 'sleep' | 'withTimeout' | 'signal'): void {
    const { model, scheduler, unit, waits } = this.world;
    const { group, hint, isFull, label, shard, starts } = this.place(a, b, c % 3 === 0);
    const outer = c % 2 === 0 ? waits.outers[b % waits.outers.length] : undefined;
    const isEndless = kind === 'withTimeout' && c % 5 === 0 && label.min === undefined;
    const holds = label.ref && kind !== 'signal' && !isEndless;
    const timer = { ...newTimer(kind, shard, label), group, outer, holds };
    const delay = isEndless ? Number.POSITIVE_INFINITY : by * unit;
    const options = {
      label: starts === scheduler ? undefined : (starts as TimerLabel),
      workerHint: hint,
      signal: outer?.signal,
    };
    const isAborted = outer?.signal.aborted === true;
    const aborted = kind === 'signal' ? 'outer' : 'ABORT_ERR';
    const refusal = isAborted ? aborted : isFull ? 'ERR_CAPACITY_EXCEEDED' : '';
    const told = waits.start(timer, delay, options, a % 2 === 0, () => this.delivered(timer, calls));
    if (kind === 'signal') this.world.expectSame('a signal is told', told, refusal);
    if (refusal !== '') {
      waits.end(timer, refusal);
      return;
    }
    // Its id is told to nobody.
    for (const { id } of scheduler.liveTimers()) if (id !== undefined && !model.live.has(id)) timer.id = id;
    this.begun(timer, isEndless ? Number.MAX_VALUE : model.now + delay);
  }

  private place(a: number, b: number, isInGroup: boolean) {
    const { capacity, groups, labels, model, scheduler } = this.world;
    const [label, starts] = labels[b % labels.length];
    const group = isInGroup ? a % groups.length : undefined;
    const hint = group === undefined ? a % HINTS : groups[group];
    const shard = scheduler.shardOf(hint);
    return { group, hint, isFull: model.countOf(shard) >= capacity, label, shard, starts };
  }

  private begun(timer: ModelTimer, deadline: number): void {
    const { faults, model, timers } = this.world;
    if (timers.some(({ id }) => id === timer.id)) faults.push(`${timer.id} is given twice`);
    timers.push(timer);
    model.start(timer, deadline);
  }

  private unlessRefused<T>(isFull: boolean, start: () => T): T | undefined {
    const { faults } = this.world;
    try {
      const started = start();
      if (isFull) faults.push('started beyond the capacity');
      return started;
    } catch (error) {
      if (!isFull || (error as { code?: string }).code !== 'ERR_CAPACITY_EXCEEDED') faults.push(`refused: ${error}`);
      return undefined;
    }
  }

  private called(
    timer: ModelTimer,
    id: number,
    calls: readonly Operation[],
    throws: boolean,
    returns = false,
  ): Promise<void> | undefined {
    const { deadline } = timer;
    this.world.expectSame('id in a callback', id, timer.id);
    this.delivered(timer, calls);
    if (throws) {
      this.thrown.push({ timer, deadline });
      throw THROWN;
    }
    if (!returns) return undefined;
    timer.isPending = true;
    return new Promise((resolve) => this.pending.set(timer, resolve));
  }

  private delivered(timer: ModelTimer, calls: readonly Operation[]): void {
    const { faults, model, scheduler, closing } = this.world;
    if (closing !== undefined) {
      faults.push(`${timer.id} is delivered after close`);
      return;
    }
    this.world.come(scheduler.now());
    const fault = model.deliver(timer);
    if (fault !== undefined) faults.push(fault);
    const live = model.live.get(timer.id);
    this.world.expectSame('deadline in its callback', scheduler.deadlineOf(timer.id), live?.deadline);
    this.runCalls(calls);
  }
}
