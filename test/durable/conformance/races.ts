import type { DurableTimers } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { Draws, SEED } from '../../fixtures/draws.ts';
import { note, nothingMore, pause, type Seen, type Stores, soon } from './stores.ts';

/** Calls that come when their timer is due: before, while, and after one of two that have the store has taken it. */
export function testRaces(stores: Stores): void {
  async function startPair(
    draws: Draws,
    concurrency: number,
  ): Promise<{ pair: readonly DurableTimers[]; seen: (Seen & { at: number; by: DurableTimers })[] }> {
    const seen: (Seen & { at: number; by: DurableTimers })[] = [];
    const work = (one: Seen, by: DurableTimers) => {
      seen.push({ ...one, at: Date.now(), by });
      return draws.below(4) === 0 ? pause(draws.below(3)) : undefined;
    };
    const pair = [await stores.start({ concurrency }), await stores.start({ concurrency })];
    for (const timers of pair) note(timers, (one) => work(one, timers));
    await pair[0].schedule('a', 'first', Date.now()); // a worker of BullMQ takes its time to start
    await stores.until(() => seen.length === 1);
    seen.length = 0;
    return { pair, seen };
  }

  /** Whether a handler may begin in one after the other's cancel was true: see `givesAway`. */
  const mayBegin = (canceller: DurableTimers | undefined, deliverer: DurableTimers | undefined): boolean =>
    stores.kind.givesAway === true && canceller !== deliverer;

  /** Until some ms before a deadline, or after; now and then so long after that a slow store has delivered too. */
  const nearly = (deadline: number, draws: Draws): Promise<void> => {
    const range = draws.below(8) === 0 ? 1000 : 40;
    return pause(Math.max(0, deadline - Date.now() + draws.below(range) - 20));
  };

  test(`each of many due timers is cancelled or delivered: none begins after its cancel was true, seed ${SEED}`, async () => {
    const draws = new Draws(SEED);
    const { pair, seen } = await startPair(draws, 1);
    /** How many deliveries had begun when the cancel was true. */
    const cancelled = new Map<string, number>();
    const cancelledBy = new Map<string, DurableTimers>();
    await Promise.all(
      Array.from({ length: 600 }, async (_, at) => {
        const key = `${at}`;
        await pause(draws.below(400));
        const deadline = soon(draws.below(60));
        await draws.pick(pair).schedule('a', key, deadline);
        await nearly(deadline, draws);
        const moved = draws.below(2) === 0 ? draws.pick(pair).reschedule('a', key, Date.now()) : undefined;
        const by = draws.pick(pair);
        cancelledBy.set(key, by);
        if (await by.cancel('a', key)) cancelled.set(key, seen.length);
        await moved;
      }),
    );
    const ended = (): number => new Set([...seen.map(({ key }) => key), ...cancelled.keys()]).size;
    await stores.until(() => ended() >= 600);
    await nothingMore();
    expect(
      seen.filter(
        ({ key, by }, at) => at >= (cancelled.get(key) ?? seen.length) && !mayBegin(cancelledBy.get(key), by),
      ),
    ).toEqual([]);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(seen.length);
    expect(ended()).toBe(600);
    expect(Math.min(seen.length, cancelled.size)).toBeGreaterThan(0);
    expect(seen.some(({ early }) => early)).toBe(false);
    expect(await pair[0].count('a')).toBe(0);
  });

  test(`a due timer that is moved is delivered before the move, or after its new deadline, seed ${SEED}`, async () => {
    const draws = new Draws(SEED + 1);
    const { pair, seen } = await startPair(draws, 8);
    const moved = new Map<string, number>();
    await Promise.all(
      Array.from({ length: 400 }, async (_, at) => {
        const key = `${at}`;
        await pause(draws.below(300));
        const deadline = soon(draws.below(60));
        await draws.pick(pair).schedule('a', key, deadline);
        await nearly(deadline, draws);
        const later = soon(draws.below(300));
        if (await draws.pick(pair).reschedule('a', key, later)) moved.set(key, later);
      }),
    );
    await stores.until(() => seen.length >= 400);
    await nothingMore();
    expect(seen.map(({ key }) => key).sort()).toEqual(Array.from({ length: 400 }, (_, at) => `${at}`).sort());
    expect(Math.min(moved.size, 400 - moved.size)).toBeGreaterThan(0);
    expect(seen.some(({ early }) => early)).toBe(false);
    expect(seen.filter(({ key, at }) => at < (moved.get(key) ?? 0))).toEqual([]);
  });

  test(`what is scheduled during a delivery is cancelled or delivered as that ends, seed ${SEED}`, async () => {
    const draws = new Draws(SEED + 2);
    const pair = [await stores.start(), await stores.start()];
    const calls = new Map<string, () => void>();
    const ends: string[] = [];
    const deliveredBy = new Map<string, DurableTimers>();
    for (const timers of pair) {
      timers.handle('a', async (_, { key }) => {
        const call = calls.get(key);
        if (call === undefined) {
          deliveredBy.set(key, timers);
          ends.push(key);
          return;
        }
        calls.delete(key);
        await draws.pick(pair).schedule('a', key, soon(draws.below(100)));
        await pause(draws.below(4));
        call();
      });
    }
    const cancelled = new Map<string, number>();
    const cancelledBy = new Map<string, DurableTimers>();
    await Promise.all(
      Array.from({ length: 400 }, async (_, at) => {
        const key = `${at}`;
        const ending = new Promise<void>((resolve) => calls.set(key, resolve));
        await pause(draws.below(300));
        await draws.pick(pair).schedule('a', key, Date.now());
        await ending;
        await pause(draws.below(2) * draws.below(100));
        const by = draws.pick(pair);
        if (!(await by.cancel('a', key))) return;
        cancelledBy.set(key, by);
        cancelled.set(key, ends.length);
      }),
    );
    const ended = (): number => new Set([...ends, ...cancelled.keys()]).size;
    await stores.until(() => ended() >= 400);
    await nothingMore();
    const late = ends.filter((key, at) => at >= (cancelled.get(key) ?? ends.length));
    expect(late.filter((key) => !mayBegin(cancelledBy.get(key), deliveredBy.get(key)))).toEqual([]);
    expect(new Set(ends).size).toBe(ends.length);
    expect(ended()).toBe(400);
    expect(Math.min(ends.length, cancelled.size)).toBeGreaterThan(0);
  });
}
