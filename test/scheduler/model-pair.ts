import type { Scheduler, UnfiredTimer } from 'shardwheel';
import { badValues } from '../fixtures/bad-values.ts';
import { turn } from '../fixtures/event-loop.ts';
import { killShard } from '../fixtures/shard-threads.ts';
import { anId, codes, places } from './argument-places.ts';
import type { Action, SmallAction } from './model-actions.ts';
import { SortedModel } from './sorted-model.ts';

/** Every wrong value in every place: none may change anything. */
const hostileCalls = places.flatMap((place) =>
  badValues.filter(({ value }) => place.rule === anId || !place.rule.isGood(value)).map((bad) => ({ place, bad })),
);

/** What callbacks throw. */
const THROWN = new Error('thrown by a callback');

/** Drives a scheduler and the model side by side. Times count in quarters of a tick, so that all sums are exact. */
export class ModelPair {
  readonly scheduler: Scheduler;
  readonly model: SortedModel;
  readonly faults: string[] = [];
  /** Set by a close in the middle. */
  closing: Promise<UnfiredTimer[]> | undefined;
  private readonly unit: number;
  private readonly capacity: number;
  private readonly ids: number[] = [];
  private readonly counts = { scheduled: 0, rescheduled: 0, cancelled: 0 };
  private thrown = 0;
  private surfaced = 0;

  constructor(scheduler: Scheduler, tick: number, capacity: number) {
    this.scheduler = scheduler;
    this.model = new SortedModel(tick);
    this.unit = tick / 4;
    this.capacity = capacity;
    scheduler.on('fired', ({ ids, length }) => {
      for (const id of ids.subarray(0, length)) this.delivered(id, [], false);
    });
    scheduler.on('error', (error) => {
      if (error === THROWN) this.surfaced += 1;
      else if ((error as { code?: string }).code !== 'ERR_SHARD_INLINE') this.faults.push(`an error: ${error}`);
    });
  }

  async run(action: Action): Promise<void> {
    if (action.kind === 'advance') await this.advance(action.by);
    else if (action.kind === 'nextExpiration') {
      this.expectSame('nextExpiration', await this.scheduler.nextExpiration(), this.model.nextExpiration());
    } else if (action.kind === 'stats') await this.compareStats();
    else if (action.kind === 'turn') await turn();
    else if (action.kind === 'crash') this.crash(action.shard);
    else this.runAtOnce(action);
    if (this.closing !== undefined) return;
    this.expectSame('size', this.scheduler.size, this.model.live.length);
    for (const { id, deadline } of this.model.live)
      this.expectSame('deadline', this.scheduler.deadlineOf(id), deadline);
    for (const id of this.model.ended) this.expectSame('has', this.scheduler.has(id), false);
    this.expectSame('errors', this.surfaced, this.thrown);
  }

  /** Closes, unless that is done and compares what is handed back. */
  async end(): Promise<void> {
    const live = this.model.live.map(({ id, deadline }) => ({ id, deadline }));
    const closing = this.closing ?? this.scheduler.close();
    const unfired = (await closing).map(({ id, deadline }) => ({ id, deadline }));
    const inOrder = (list: { id: number }[]) => list.toSorted((one, other) => one.id - other.id);
    this.expectSame('unfired', inOrder(unfired), inOrder(live));
    this.expectSame('size', this.scheduler.size, 0);
  }

  private async advance(by: number): Promise<void> {
    const now = this.model.now + Math.max(0, by) * this.unit;
    const before = this.model.delivered;
    const delivered = await this.scheduler.advanceTo(now);
    if (this.closing !== undefined) return;
    this.model.now = now;
    this.expectSame('delivered', delivered, this.model.delivered - before);
    this.expectSame('overdue', this.model.overdue(), []);
    this.expectSame('now', this.scheduler.now(), this.model.now);
  }

  private async compareStats(): Promise<void> {
    const { scheduled, rescheduled, cancelled, delivered, size, shards } = await this.scheduler.stats();
    const { live } = this.model;
    const told = { scheduled, rescheduled, cancelled, delivered, size, sizes: shards.map((shard) => shard.size) };
    const sizes = shards.map(({ shard }) => this.model.countOf(shard));
    this.expectSame('stats', told, { ...this.counts, delivered: this.model.delivered, size: live.length, sizes });
  }

  private crash(shard: number): void {
    if (shard >= this.scheduler.shards) return;
    killShard(this.scheduler, shard);
    this.model.crash(shard);
  }

  private runAtOnce(action: SmallAction): void {
    const { scheduler, model } = this;
    if (this.closing !== undefined) return;
    switch (action.kind) {
      case 'schedule':
      case 'scheduleAfter': {
        const { hint, then, throws, kind } = action;
        const isPlain = then.length === 0 && !throws;
        const callback = isPlain ? undefined : (_: unknown, id: number) => this.delivered(id, then, throws);
        const delay = action.by * this.unit;
        this.scheduleUnlessFull(hint, [model.now + delay], ([deadline]) => [
          kind === 'schedule'
            ? scheduler.schedule(hint, deadline, callback)
            : scheduler.scheduleAfter(hint, delay, callback),
        ]);
        break;
      }
      case 'scheduleMany': {
        const deadlines = Array.from({ length: action.count }, (_, i) => model.now + (action.by + i) * this.unit);
        const hints = new Array(action.count).fill(action.hint);
        this.scheduleUnlessFull(action.hint, deadlines, () => scheduler.scheduleMany(hints, deadlines));
        break;
      }
      case 'cancel': {
        const id = this.pick(action.pick);
        this.expectSame('cancel', scheduler.cancel(id), this.cancelInModel(id));
        break;
      }
      case 'cancelMany': {
        const ids = [0, 1, 2, 0].map((i) => this.pick(action.pick + i));
        this.expectSame('cancelMany', scheduler.cancelMany(ids), ids.filter((id) => this.cancelInModel(id)).length);
        break;
      }
      case 'reschedule':
      case 'rescheduleAfter': {
        const id = this.pick(action.pick);
        const delay = action.by * this.unit;
        const deadline = model.now + delay;
        const isMoved =
          action.kind === 'reschedule' ? scheduler.reschedule(id, deadline) : scheduler.rescheduleAfter(id, delay);
        this.expectSame('reschedule', isMoved, model.move(id, deadline));
        if (isMoved) this.counts.rescheduled += 1;
        break;
      }
      case 'query': {
        const id = this.pick(action.pick);
        const timer = model.find(id);
        this.expectSame('has', scheduler.has(id), timer !== undefined);
        this.expectSame('deadlineOf', scheduler.deadlineOf(id), timer?.deadline);
        this.expectSame('size', scheduler.size, model.live.length);
        break;
      }
      case 'hostile':
        this.callHostile(action.call, this.pick(action.pick));
        break;
      case 'ref':
        scheduler.unref().ref();
        break;
      case 'close':
        this.closing = scheduler.close();
        break;
    }
  }

  private callHostile(call: number, id: number): void {
    const { place, bad } = hostileCalls[call % hostileCalls.length];
    const { name, rule, answer } = place;
    let told: unknown;
    try {
      told = ['answer', place.call(this.scheduler, bad.value as never, id)];
    } catch (error) {
      const { code } = error as { code?: string };
      // Before it comes to the wrong value it starts timers, which may be too many.
      told = ['code', code === 'ERR_CAPACITY_EXCEEDED' && name.includes('[]') ? codes.get(rule.error) : code];
    }
    this.expectSame(`${name}: ${bad.name}`, told, rule === anId ? ['answer', answer] : ['code', codes.get(rule.error)]);
  }

  private delivered(id: number, then: readonly SmallAction[], throws: boolean): void {
    if (this.closing !== undefined) {
      if (then.length > 0 || throws) this.faults.push(`${id} was delivered after close`);
      return; // the rest of a batch that was handed over as a whole
    }
    this.model.now = this.scheduler.now(); // a long way is gone in steps
    const fault = this.model.deliver(id);
    if (fault !== undefined) this.faults.push(fault);
    for (const each of then) this.runAtOnce(each);
    if (!throws) return;
    this.thrown += 1;
    throw THROWN;
  }

  private scheduleUnlessFull(
    hint: number,
    deadlines: readonly number[],
    schedule: (deadlines: readonly number[]) => ArrayLike<number>,
  ): void {
    const shard = this.scheduler.shardOf(hint);
    const isFull = this.model.countOf(shard) + deadlines.length > this.capacity;
    try {
      const ids = Array.from(schedule(deadlines));
      if (isFull) this.faults.push('scheduled beyond the capacity');
      for (const [i, id] of ids.entries()) {
        if (this.ids.includes(id)) this.faults.push(`${id} was given twice`);
        this.ids.push(id);
        this.model.schedule(id, shard, deadlines[i]);
      }
      this.counts.scheduled += deadlines.length;
    } catch (error) {
      if (!isFull || (error as { code?: string }).code !== 'ERR_CAPACITY_EXCEEDED') throw error;
    }
  }

  private cancelInModel(id: number): boolean {
    const isLive = this.model.cancel(id);
    if (isLive) this.counts.cancelled += 1;
    return isLive;
  }

  private pick(at: number): number {
    return this.ids.length === 0 ? 7 : this.ids[at % this.ids.length];
  }

  private expectSame(what: string, given: unknown, wanted: unknown): void {
    if (JSON.stringify(given) !== JSON.stringify(wanted)) {
      this.faults.push(`${what}: ${JSON.stringify(given)} instead of ${JSON.stringify(wanted)}`);
    }
  }
}
