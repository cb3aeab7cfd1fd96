import { AsyncLocalStorage } from 'node:async_hooks';
import { createScheduler, type Scheduler, type TimerLabel } from 'shardwheel';
import { expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { pass, turn, until } from '../fixtures/event-loop.ts';
import { killShard } from '../fixtures/shard-threads.ts';
import { manual } from './manual.ts';

const MINIMA = [0, 15, 40];

/** A timer, by what the test itself has asked for: it shares nothing with the code under test. */
interface Entry {
  readonly name: number;
  id: number;
  readonly scale: number | undefined;
  /** Between these its last schedule or move has taken the time, ms. */
  from: number;
  to: number;
  full: number;
  state: 'live' | 'delivered' | 'cancelled';
}

/** ms that two sums of doubles may differ by. */
const ROUNDING = 1e-6;

/**
 * Random calls on the real clock, while factors change at any time: factors are in force for what comes after them, and
 * for all that lives once `setScale` has resolved.
 */
class ScaledFuzz {
  readonly wrong: string[] = [];
  readonly entries: Entry[] = [];
  isOver = false;
  /** Callbacks do nothing any more. */
  isQuiet = false;
  rescheduled = 0;
  private readonly scheduler: Scheduler;
  private readonly draws: Draws;
  private readonly scaled: readonly TimerLabel[];
  private readonly storage = new AsyncLocalStorage<number>();
  /** The least factor that a class has had since its last `setScale` resolved with none under way. */
  private readonly least = MINIMA.map(() => 1);
  readonly factors = MINIMA.map(() => 1);
  private readonly changing = MINIMA.map(() => 0);

  constructor(scheduler: Scheduler, draws: Draws) {
    this.scheduler = scheduler;
    this.draws = draws;
    this.scaled = MINIMA.map((min) => scheduler.label(`min ${min}`, { min }));
  }

  get live(): Entry[] {
    return this.entries.filter(({ state }) => state === 'live');
  }

  step(): void {
    const { draws, scheduler } = this;
    for (let i = draws.below(40); i > 0; i--) this.start();
    const { live } = this;
    for (let i = Math.min(live.length, draws.below(20)); i > 0; i--) {
      const entry = draws.pick(live);
      if (entry.state !== 'live') continue;
      if (draws.below(3) === 0) {
        this.expect(scheduler.cancel(entry.id), `cancel of live ${entry.name}`);
        entry.state = 'cancelled';
      } else this.move(entry);
    }
    const gone = draws.pick(this.entries);
    if (gone !== undefined && gone.state !== 'live') {
      this.expect(!scheduler.cancel(gone.id) && !scheduler.reschedule(gone.id, 1e6), `${gone.name} is ${gone.state}`);
    }
  }

  /** All of a class, at once: each is due then. */
  async drain(): Promise<void> {
    for (const scale of MINIMA.keys()) await this.change(scale, 0);
  }

  private start(): void {
    const { draws, scheduler } = this;
    const scale = draws.pick([undefined, ...MINIMA.keys()]);
    const name = this.entries.length;
    const entry: Entry = { name, id: -1, scale, from: 0, to: 0, full: 0, state: 'live' };
    const starts = scale === undefined ? scheduler : this.scaled[scale];
    const delay = draws.between(0, draws.pick([5, 60, 400, 3000]));
    entry.from = scheduler.now();
    this.storage.run(name, () => {
      entry.full = entry.from + delay;
      entry.id =
        draws.below(2) === 0
          ? starts.schedule(draws.below(50), entry.full, this.fired, entry)
          : starts.scheduleAfter(draws.below(50), delay, this.fired, entry);
    });
    entry.to = scheduler.now();
    this.entries.push(entry);
  }

  private move(entry: Entry): void {
    const { draws, scheduler } = this;
    const delay = draws.between(0, draws.pick([5, 60, 400, 3000]));
    entry.from = scheduler.now();
    entry.full = entry.from + delay;
    const isMoved =
      draws.below(2) === 0 ? scheduler.reschedule(entry.id, entry.full) : scheduler.rescheduleAfter(entry.id, delay);
    this.expect(isMoved, `move of live ${entry.name}`);
    this.rescheduled += 1;
    entry.to = scheduler.now();
  }

  async change(scale = this.draws.below(MINIMA.length), factor = this.draws.pick([0, 1, this.draws.between(0, 1)])) {
    this.factors[scale] = factor;
    this.least[scale] = Math.min(this.least[scale], factor);
    this.changing[scale] += 1;
    await this.scaled[scale].setScale(factor);
    this.changing[scale] -= 1;
    if (this.isOver || this.changing[scale] > 0) return; // another has come meanwhile
    this.least[scale] = this.factors[scale];
    this.expectDeadlines(scale);
  }

  /** Each that is live is where the factor puts it, and not overdue; of one class, or of all. */
  expectDeadlines(scale?: number, overdue = Number.NEGATIVE_INFINITY): void {
    for (const entry of this.live) {
      if (scale !== undefined && entry.scale !== scale) continue;
      const deadline = this.scheduler.deadlineOf(entry.id) ?? Number.NaN;
      const least = this.dueOf(entry, entry.from, entry.full, this.factors);
      const most = this.dueOf(entry, entry.to, entry.full + entry.to - entry.from, this.factors);
      const isThere = deadline >= least - ROUNDING && deadline <= most + ROUNDING;
      this.expect(isThere, `${entry.name} is due at ${deadline}, of ${JSON.stringify(entry)} by ${this.factors}`);
      this.expect(deadline > overdue, `${entry.name} is overdue at ${overdue}`);
    }
  }

  private dueOf({ scale }: Entry, at: number, full: number, factors: readonly number[]): number {
    if (scale === undefined) return full;
    const earliest = at + MINIMA[scale];
    return full <= earliest ? full : earliest + (full - earliest) * factors[scale];
  }

  private readonly fired = (entry: Entry, id: number): void => {
    const now = this.scheduler.now();
    this.expect(entry.state === 'live', `${entry.name} was ${entry.state} and is delivered`);
    this.expect(id === entry.id, `${entry.name} has its id`);
    this.expect(this.storage.getStore() === entry.name, `${entry.name} is in its context`);
    entry.state = 'delivered';
    const due = this.dueOf(entry, entry.from, entry.full, this.least);
    this.expect(now >= due - ROUNDING, `${entry.name} is early by ${due - now} ms`);
    if (this.isQuiet) return;
    if (this.draws.below(10) === 0) this.start();
    if (this.draws.below(50) === 0) void this.change();
    const other = this.draws.below(10) === 0 ? this.draws.pick(this.entries) : undefined;
    if (other !== undefined && other.state === 'live') this.move(other);
  };

  expectEnded(handedBack: readonly { argument: unknown }[]): void {
    const back = new Set(handedBack.map(({ argument }) => (argument as Entry).name));
    expect(back.size).toBe(handedBack.length);
    for (const { name, state } of this.entries) {
      this.expect(back.has(name) === (state === 'live'), `${name} is ${state}, handed back: ${back.has(name)}`);
    }
    expect(this.wrong.slice(0, 5)).toEqual([]);
  }

  private expect(is: boolean, what: string): void {
    if (!is) this.wrong.push(what);
  }
}

const cases = [0, 1, 2, 'auto' as const].flatMap((shards) => [0, 20].map((slack) => ({ shards, slack })));

test.each(cases)(
  `scaled timers, moved, cancelled and rescaled at random on the real clock: %o, seed ${SEED}`,
  async ({ shards, slack }) => {
    const draws = new Draws(SEED + slack);
    const scheduler = createScheduler({ shards, slack, capacity: 2 ** 16, thread: { hangTimeout: 60_000 } });
    const errors: unknown[] = [];
    scheduler.on('error', (error) => errors.push(error));
    const fuzz = new ScaledFuzz(scheduler, draws);
    for (let step = 0; step < 300; step++) {
      fuzz.step();
      if (draws.below(3) === 0) void fuzz.change();
      if (step % 100 === 50 && typeof shards === 'number' && shards > 0) killShard(scheduler, draws.below(shards));
      await (draws.below(4) === 0 ? pass(draws.below(8)) : turn());
    }
    if (draws.below(2) === 0) {
      fuzz.isQuiet = true;
      await fuzz.drain();
      await until(() => fuzz.live.every(({ scale }) => scale === undefined));
    }
    const changes = MINIMA.map((min) => scheduler.label(`min ${min}`).setScale(draws.between(0, 1)));
    fuzz.isOver = true;
    fuzz.expectEnded(await scheduler.close());
    await Promise.all(changes);
    expect(errors.filter((error) => !/inline/.test(String(error)))).toEqual([]);
    expect(fuzz.entries.filter(({ state }) => state === 'delivered').length).toBeGreaterThan(500);
  },
);

test.each([0, 1, 2])(
  `the same on a manual clock, where all of it is exact: shards %i, seed ${SEED}`,
  async (shards) => {
    const scheduler = await manual({ shards, capacity: 2 ** 16 });
    const draws = new Draws(SEED);
    const fuzz = new ScaledFuzz(scheduler, draws);
    fuzz.isQuiet = true;
    for (let step = 0; step < 300; step++) {
      fuzz.step();
      if (draws.below(10) === 0) await fuzz.change();
      const now = scheduler.now() + draws.between(2, 30); // a timer that is moved to the past is due at the next tick
      await scheduler.advanceTo(now);
      fuzz.expectDeadlines(undefined, now - 1);
    }
    const { labels, rescheduled } = await scheduler.stats();
    expect(labels).toMatchObject(
      MINIMA.map((min, scale) => ({ label: `min ${min}`, min, factor: fuzz.factors[scale] })),
    );
    expect(rescheduled).toBe(fuzz.rescheduled); // those of the program alone
    fuzz.expectEnded(await scheduler.close());
    expect(fuzz.entries.filter(({ state }) => state === 'delivered').length).toBeGreaterThan(500);
  },
);
