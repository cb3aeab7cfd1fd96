import { createScheduler } from 'shardwheel';
import { turn } from '../fixtures/event-loop.ts';
import { internalsOf } from '../fixtures/internals.ts';
import { killShard } from '../fixtures/shard-threads.ts';
import { UncaughtErrors } from '../fixtures/uncaught-errors.ts';
import { ContractCalls } from './contract-calls.ts';
import type { Operation, Program } from './contract-operations.ts';
import { ContractWorld } from './contract-world.ts';

const CAPACITY = 24;
/** Quarters of a tick that the clock goes at most while a timer repeats. */
const FAR = 120;
/** ms: deadlines beyond it are not exact to a tick. */
const FOR_EVER = 2 ** 50;

/** Runs a program beside the model. */
export class ContractRun {
  readonly world: ContractWorld;
  private readonly calls: ContractCalls;
  private operations = 0;

  private constructor(world: ContractWorld) {
    this.world = world;
    this.calls = new ContractCalls(world);
  }

  /** Returns the number of operations, and what was wrong. */
  static async of(program: Program): Promise<{ operations: number; faults: readonly string[] }> {
    const { options, operations } = program;
    const thread = { inlineAfter: { deaths: 3, within: 60_000 } };
    await using scheduler = createScheduler({ clock: 'manual', capacity: CAPACITY, thread, ...options });
    using uncaught = new UncaughtErrors();
    const run = new ContractRun(new ContractWorld(scheduler, program, CAPACITY));
    const { dropIns } = run.world;
    const { faults } = run.world;
    for (const operation of operations) {
      await run.run(operation);
      dropIns.compareErrors(uncaught.errors);
      if (run.world.closing !== undefined || faults.length > 0) break;
    }
    if (faults.length === 0) await run.end();
    dropIns.compareErrors(uncaught.errors);
    return { operations: run.operations + run.calls.count, faults };
  }

  /** Does one thing, and compares everything. */
  private async run(operation: Operation): Promise<void> {
    const { world } = this;
    const { dropIns, model, scheduler, waits } = world;
    if (!(await this.runOuter(operation))) this.calls.run(operation, true);
    if (waits.hasEnded || dropIns.hasEnded || operation.kind === 'settle') await turn();
    this.compareTold();
    if (world.closing !== undefined) return;
    dropIns.compareHandles();
    world.expectSame('size', scheduler.size, model.live.size + dropIns.model.live.size);
    let { holds } = dropIns.model;
    for (const timer of model.live.values()) {
      holds ||= timer.holds;
      world.expectSame('deadline', scheduler.deadlineOf(timer.id), timer.deadline);
    }
    world.expectSame('hold on the process', internalsOf(scheduler).client.refs.keepsAlive, holds && world.isRef);
    world.expectSame('errors that were not told', this.calls.starts.untold, 0);
  }

  private compareTold(): void {
    const { dropIns, waits } = this.world;
    waits.compare((outer) => dropIns.listensTo(outer));
    dropIns.compareTold();
  }

  /** What takes turns. Returns whether it is such an operation. */
  private async runOuter({ kind, a, by }: Operation): Promise<boolean> {
    const { model, scheduler } = this.world;
    switch (kind) {
      case 'advance':
      case 'jump':
        await this.advance(by, kind === 'jump');
        break;
      case 'nextExpiration':
        await this.compareNext();
        break;
      case 'stats':
        await this.compareStats();
        break;
      case 'liveTimers':
        this.compareLive();
        break;
      case 'cancelAnywhere': {
        const timer = this.world.pick(a);
        const isLive = this.world.end(timer, 'ABORT_ERR');
        this.world.expectSame('cancelAnywhere', await scheduler.cancelAnywhere(timer?.id ?? 0), isLive);
        break;
      }
      case 'turn':
        await turn();
        break;
      case 'crash':
        model.crash(a % scheduler.shards);
        killShard(scheduler, a % scheduler.shards);
        break;
      default:
        return false;
    }
    this.operations += 1;
    return true;
  }

  /** Closes, unless that is done; compares what is handed back, and what is answered from then on. */
  private async end(): Promise<void> {
    const { world } = this;
    const { groups, scheduler, timers } = world;
    if (world.closing === undefined) world.close();
    const inOrder = (list: readonly { id: number }[]) => list.toSorted((one, other) => one.id - other.id);
    const unfired = (await world.closing) ?? [];
    const told = unfired.map(({ id, deadline, label, period, isSettled }) => ({
      ...{ id, deadline, label, period, isSettled },
    }));
    world.expectSame('handed back', inOrder(told), inOrder(world.unfired));
    for (const { argument, callback, id } of unfired) {
      const timer = timers.find((each) => each.id === id);
      const isOwn = callback !== undefined && (timer?.kind === 'callback' || timer?.kind === 'repeating');
      if (isOwn && argument !== timer) world.faults.push(`${id} is handed back with another argument`);
    }
    await turn();
    this.compareTold();
    world.dropIns.compareClosed();
    const id = timers.at(-1)?.id ?? 0;
    const answers = [
      [scheduler.size, scheduler.has(id), scheduler.cancel(id), scheduler.deadlineOf(id), scheduler.cancelMany([id])],
      [await scheduler.cancelAnywhere(id), [...scheduler.liveTimers()]],
      groups.map((group) => [group.size, group.cancelAll()]),
      await scheduler.sleep(1).catch(({ code }) => code),
    ];
    const none = [[0, false, false, undefined, 0], [false, []], groups.map(() => [0, 0]), 'ERR_SCHEDULER_CLOSED'];
    world.expectSame('answers after close', answers, none);
  }

  private async advance(by: number, jump: boolean): Promise<void> {
    const { world } = this;
    const { dropIns, model, scheduler, unit } = world;
    const repeats = dropIns.repeats || [...model.live.values()].some(({ kind }) => kind === 'repeating');
    const units = Math.max(0, repeats ? by % FAR : by);
    const now = model.now + units * unit;
    world.mayRepeat = units <= FAR;
    const count = () => model.counts.delivered + dropIns.model.counts.delivered;
    const before = count();
    model.isJump = jump;
    const delivered = await scheduler.advanceTo(now, jump ? { jump } : undefined);
    world.mayRepeat = true;
    if (world.closing !== undefined) return;
    world.expectSame('delivered', delivered, count() - before);
    const overdue = model.reach(now).map(({ id, kind, due, deadline }) => ({ id, kind, due, deadline }));
    world.expectSame('overdue', overdue, []);
    world.expectSame('overdue drop-in timers', dropIns.model.overdue(now), []);
    world.expectSame('now', scheduler.now(), now);
  }

  private async compareNext(): Promise<void> {
    const { dropIns, model, unit } = this.world;
    const dropIn = dropIns.model.nextDue * 4 * unit;
    const [from, to] = model.nextExpiration().map((time) => Math.min(time, dropIn));
    if (from > 2 ** 52) return; // no clock comes there
    const next = await this.world.scheduler.nextExpiration();
    const isRight = next !== undefined && next >= from && next <= to;
    if (!isRight) this.world.faults.push(`nextExpiration: ${next}, not from ${from} to ${to}`);
  }

  private async compareStats(): Promise<void> {
    const { dropIns, labels, model, scheduler } = this.world;
    const { scheduled, rescheduled, cancelled, delivered, overlapped, size, ...stats } = await scheduler.stats();
    const both = Object.entries(dropIns.model.counts).map(([name, count]) => [
      name,
      count + model.counts[name as 'delivered'],
    ]);
    const counts = { ...model.counts, ...Object.fromEntries(both) };
    this.world.expectSame('stats', { scheduled, rescheduled, cancelled, delivered, overlapped }, counts);
    const sizes = stats.shards.map(({ shard }) => model.countOf(shard));
    const told = [size, ...stats.shards.map((shard) => shard.size)];
    this.world.expectSame('sizes', told, [model.live.size + dropIns.model.live.size, ...sizes]);
    for (const [{ name, factor, scheduled, cancelled, delivered }] of labels) {
      const row = stats.labels.find(({ label }) => label === name);
      if (row === undefined) continue; // that of none
      const live = [...model.live.values()].filter(({ label }) => label.name === name).length;
      const found = [row.factor, row.scheduled, row.cancelled, row.delivered, row.size];
      this.world.expectSame(`stats of ${name}`, found, [factor, scheduled, cancelled, delivered, live]);
    }
  }

  private compareLive(): void {
    const { dropIns, model, scheduler, unit } = this.world;
    const all = [...scheduler.liveTimers()];
    const isKnown = (deadline: number) => deadline < FOR_EVER;
    const shown = all.filter(({ label }) => label === '(drop-in)').map(({ deadline }) => deadline);
    const wanted = [...dropIns.model.live].map(({ deadlineTick }) => deadlineTick * 4 * unit);
    const inOrder = (deadlines: number[]) => deadlines.filter(isKnown).toSorted((one, other) => one - other);
    this.world.expectSame('live drop-in timers', inOrder(shown), inOrder(wanted));
    const own = all.filter(({ label }) => label !== '(drop-in)');
    const live = own.map(({ id, deadline, label, period, shard }) =>
      JSON.stringify([id, deadline, label, period, shard]),
    );
    const known = [...model.live.values()].map(({ id, deadline, label, period, shard }) =>
      JSON.stringify([id, deadline, label.name, period, shard]),
    );
    this.world.expectSame('liveTimers', live.sort(), known.sort());
  }
}
