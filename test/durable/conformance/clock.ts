import { type DurableTimers, manualWallClock } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { all, nothingMore, pause, type Stores } from './stores.ts';

const HOUR = 3_600_000;

/** A manual clock, years before the machine's or after it: time goes by `advanceTo` alone. */
export function testClock(stores: Stores): void {
  /** Handles 'a', and notes the time of the clock at each delivery. */
  function noteTimes(timers: DurableTimers, now: () => number, failures = 0): [string, number][] {
    const seen: [string, number][] = [];
    timers.handle('a', (_, { key, attempt }) => {
      seen.push([key, now()]);
      if (attempt <= failures) throw new Error('as the test wants it');
    });
    return seen;
  }

  const worlds = ['2001-01-01', '2080-01-01'].flatMap((year) => [0, 600_000].map((youth) => [year, youth] as const));
  test.each(worlds)('a manual clock in %s, persistAfter %i: timers are due when it says so', async (year, youth) => {
    const start = Date.parse(year);
    const clock = manualWallClock(start);
    const timers = await stores.start({ clock, persistAfter: youth });
    const seen = noteTimes(timers, () => clock.now());
    await timers.schedule('a', 'before', start - 1);
    await stores.until(() => seen.length === 1);
    for (const [key, delay] of Object.entries({ soon: 20, day: 24 * HOUR, year: 8760 * HOUR, gone: 30 })) {
      await timers.schedule('a', key, start + delay);
    }
    await timers.schedule('a', 'moved', start + 10);
    expect(await timers.reschedule('a', 'moved', start + 48 * HOUR)).toBe(true);
    expect(await timers.cancel('a', 'gone')).toBe(true);
    await nothingMore();
    expect(seen).toEqual([['before', start]]);
    expect((await timers.stats()).store?.overdue).toBe(0);
    clock.advanceTo(start + 19);
    await nothingMore();
    expect(seen).toHaveLength(1);
    clock.advanceTo(start + 20);
    await stores.until(() => seen.length === 2);
    clock.advanceTo(new Date(start + 48 * HOUR));
    await stores.until(() => seen.length === 4);
    await nothingMore();
    expect(seen.slice(1)).toEqual([
      ['soon', start + 20],
      ['day', start + 48 * HOUR],
      ['moved', start + 48 * HOUR],
    ]);
    expect((await all(timers.timers('a'))).map(({ key, deadline }) => [key, deadline])).toEqual([
      ['year', start + 8760 * HOUR],
    ]);
  });

  test.each(['2001-01-01', '2080-01-01'])(
    'a manual clock in %s: attempts follow it, at first and again',
    async (year) => {
      const start = Date.parse(year);
      const clock = manualWallClock(start);
      const timers = await stores.start({ clock, retry: { attempts: 3, delay: HOUR, maxDelay: HOUR } });
      const seen = noteTimes(timers, () => clock.now(), 2);
      await timers.schedule('a', 'k', start);
      for (let attempt = 1; attempt <= 3; attempt++) {
        await stores.until(() => seen.length === attempt);
        await stores.until(async () => attempt === 3 || (await timers.get('a', 'k')) !== undefined);
        await nothingMore();
        expect(seen).toHaveLength(attempt);
        clock.advanceTo(clock.now() + HOUR);
      }
      expect(seen.map(([, at]) => at)).toEqual([start, start + HOUR, start + 2 * HOUR]);
    },
  );

  test('a manual clock is followed at once, not at the next look', async () => {
    const clock = manualWallClock(0);
    const timers = await stores.start({ clock });
    const seen = noteTimes(timers, () => clock.now());
    const took: number[] = [];
    for (let step = 1; step <= 12; step++) {
      const begun = performance.now();
      await timers.schedule('a', 'k', clock.now() + 24 * HOUR);
      clock.advanceTo(clock.now() + 24 * HOUR);
      await stores.until(() => seen.length === step);
      took.push(performance.now() - begun);
    }
    // A table looks every 500 ms by itself: each step but the first would come with its next look.
    expect(took.filter((ms) => ms < 250).length, `${took}`).toBeGreaterThan(2);
  });

  test('a manual clock of two that share a store: what one schedules while it is advanced, the other delivers', async () => {
    const start = Date.parse('2080-01-01');
    const clock = manualWallClock(start);
    const [one, other] = [await stores.start({ clock }), await stores.start({ clock })];
    const seen = noteTimes(other, () => clock.now());
    for (let at = 0; at < 50; at++) {
      const scheduled = one.schedule('a', `${at}`, start + at * HOUR);
      if (at % 2 === 0) await pause(1);
      clock.advanceTo(start + at * HOUR);
      await scheduled;
    }
    await stores.until(() => seen.length === 50);
    expect(seen.filter(([key, at]) => at < start + Number(key) * HOUR)).toEqual([]);
  });

  test('a manual clock is advanced while the store is closed: what is due by then is delivered when it is opened', async () => {
    const start = Date.parse('2080-01-01');
    const clock = manualWallClock(start);
    const before = await stores.start({ clock, persistAfter: HOUR });
    await before.schedule('a', 'k', start + HOUR);
    await before.close();
    clock.advanceTo(start + HOUR);
    const after = await stores.start({ clock });
    const seen = noteTimes(after, () => clock.now());
    await stores.until(() => seen.length === 1);
  });
}
