import { afterEach, expect, test, vi } from 'vitest';
import type { DueTimer } from '../../src/extras/durable/stored-timer.ts';
import type { NearTimer } from '../../src/extras/durable/table/near-tier.ts';
import { NearTiers } from '../../src/extras/durable/table/near-tiers.ts';
import type { DuePlace } from '../../src/extras/durable/table/record-table.ts';
import type { Opened, Rows } from '../../src/extras/durable/table/rows.ts';
import { realWallClock } from '../../src/extras/durable/wall-clock.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

const NAMES = ['a', 'b', 'c'];
const HORIZON = 1000;

const inOrder = (one: DuePlace, other: DuePlace): number => one.due - other.due || (one.key < other.key ? -1 : 1);

/** A table, slots for handlers, and a clock, which the test moves. */
class World {
  now = 1_000_000;
  /** By name and key, when it is due. */
  readonly table = new Map(NAMES.map((name) => [name, new Map<string, number>()]));
  /** What this process has not been told of. */
  readonly secret = new Set<string>();
  readonly slots = new Map(NAMES.map((name) => [name, 0]));
  readonly armed = new Set<NearTimer>();
  readonly begun: { name: string; key: string; due: number }[] = [];
  readonly faults: string[] = [];
  readonly tiers: NearTiers;
  private hasRoom = (): void => undefined;

  constructor(nearLimit: number) {
    vi.spyOn(Date, 'now').mockImplementation(() => this.now);
    const core = {
      clock: realWallClock,
      settings: { horizon: HORIZON, nearLimit },
      alarms: {
        add: () => undefined,
        set: (timer: NearTimer) => Boolean(this.armed.add(timer)),
        unset: (timer: NearTimer) => this.armed.delete(timer),
      },
      failed: (error: Error) => this.faults.push(error.message),
    };
    const table = {
      refresh: () => undefined,
      due: (name: string, from: DuePlace, until: number, limit: number) =>
        this.entries(name)
          .filter((entry) => entry.due < until && inOrder(from, entry) < 0)
          .slice(0, limit),
    };
    const attempts = {
      onRoom: (listener: () => void) => {
        this.hasRoom = listener;
      },
      mayBegin: (name: string) => this.slotsOf(name) > 0,
      push: (timer: DueTimer) => this.push(timer as NearTimer),
    };
    const rows = { claim: async () => undefined };
    this.tiers = new NearTiers({ table, core, attempts } as unknown as Opened, rows as unknown as Rows);
    for (const name of NAMES) this.tiers.add(name);
  }

  /** In the order of the index. */
  entries(name: string): DuePlace[] {
    return Array.from(this.of(name), ([key, due]) => ({ key, due })).sort(inOrder);
  }

  of(name: string): Map<string, number> {
    return this.table.get(name) as Map<string, number>;
  }

  slotsOf(name: string): number {
    return this.slots.get(name) as number;
  }

  free(name: string): void {
    this.slots.set(name, this.slotsOf(name) + 1);
    this.hasRoom();
  }

  put(name: string, key: string, due: number, isTold: boolean): void {
    this.of(name).set(key, due);
    if (isTold) {
      this.secret.delete(name + key);
      this.tiers.noticed(name, key, due);
    } else {
      this.secret.add(name + key);
    }
  }

  remove(name: string, key: string, isTold: boolean): void {
    this.of(name).delete(key);
    if (isTold) this.tiers.gone(name, key);
  }

  /** Alarms ring in the ms for which they are set. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left--) {
      this.now += 1;
      for (const timer of [...this.armed].filter(({ due }) => due <= this.now)) {
        if (this.armed.delete(timer)) timer.wake();
      }
    }
  }

  /** The oldest that is due of the names that may begin one, as far as this process can know. */
  private get oldest(): number {
    const names = NAMES.filter((name) => this.slotsOf(name) > 0);
    const known = names.flatMap((name) => this.entries(name).filter(({ key }) => !this.secret.has(name + key)));
    return Math.min(...known.map(({ due }) => due), this.now);
  }

  private push(timer: NearTimer): void {
    const { name, key } = timer;
    const due = this.of(name).get(key);
    if (this.slotsOf(name) === 0) this.faults.push(`${name} ${key} has no slot`);
    void timer.claim();
    if (due === undefined || due > this.now) return; // the table decides
    if (timer.due === due && this.oldest < due)
      this.faults.push(`${name} ${key}, due ${due}, before one that is due ${this.oldest}`);
    this.slots.set(name, this.slotsOf(name) - 1);
    this.of(name).delete(key);
    this.begun.push({ name, key, due });
  }
}

afterEach(() => vi.restoreAllMocks());
const passes = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a name whose handlers have all their slots holds up no other, and begins its oldest when it has one', async () => {
  const world = new World(1000);
  for (let at = 0; at < 3000; at++) world.of('a').set(`${at}`, at);
  for (let at = 0; at < 30; at++) world.of('b').set(`${at}`, 5000 + at);
  world.slots.set('a', 2).set('b', 100);
  world.tiers.look();
  for (let at = 0; at < 20; at++) await passes();
  expect(world.begun.slice(0, 3)).toMatchObject([{ name: 'a' }, { name: 'a' }, { name: 'b', due: 5000 }]);
  expect(world.begun).toHaveLength(32);
  expect(world.tiers.size).toBeLessThanOrEqual(1000);
  world.free('a');
  expect(world.begun.at(-1)).toEqual({ name: 'a', key: '2', due: 2 });
  expect(world.faults).toEqual([]);
});

test('what is overdue and did not fit is read when it may begin, however many are near', async () => {
  const world = new World(160);
  world.tiers.look();
  await passes();
  for (const name of NAMES) for (let at = 0; at < 90; at++) world.put(name, `near ${at}`, world.now + 500, true);
  for (let at = 0; at < 200; at++) world.put('a', `${at}`, world.now - 1000 + at, true);
  for (let at = 0; at < 200; at++) world.free('a');
  expect(world.begun.map(({ key }) => key)).toEqual(Array.from({ length: 200 }, (_, at) => `${at}`));
  expect(world.faults).toEqual([]);
});

test(`whatever is put, moved, removed and told, the oldest that may begin does, and each does once, seed ${SEED}`, async () => {
  const draws = new Draws(SEED);
  for (let run = 0; run < 12; run++) {
    const world = new World(draws.pick([160, 300, 100_000]));
    /** Of steps one is a look. */
    const looks = draws.pick([5, 100]);
    for (const name of NAMES) {
      const [count, span] = [draws.below(400), draws.pick([1, 30, 100_000])];
      for (let at = 0; at < count; at++) world.of(name).set(`${at}`, world.now - draws.below(span));
    }
    world.tiers.look();
    for (let step = 0; step < 150; step++) {
      const name = draws.pick(NAMES);
      const isTold = draws.below(4) > 0;
      const kind = draws.below(5);
      for (let left = draws.pick([1, 1, 100]); left > 0; left--) {
        const key = `${draws.below(500)}`;
        if (kind === 0) world.put(name, key, world.now - draws.below(200), isTold);
        else if (kind === 1) world.put(name, key, world.now + draws.below(1.5 * HORIZON), true);
        else if (kind === 2) world.remove(name, key, isTold);
        else if (kind === 3) world.free(name);
        else world.pass(draws.below(3));
      }
      if (draws.below(looks) === 0) world.tiers.look();
      if (draws.below(3) === 0) await passes();
    }
    expect(world.faults).toEqual([]);
    const left = NAMES.reduce((sum, name) => sum + world.of(name).size, 0);
    const before = world.begun.length;
    for (const name of NAMES) world.slots.set(name, 1e6);
    for (let look = 0; look < 100 && world.begun.length < before + left; look++) {
      world.pass(HORIZON / 10);
      world.tiers.look();
      await passes();
    }
    expect(world.begun).toHaveLength(before + left);
    expect(world.tiers.size).toBe(0);
  }
});
