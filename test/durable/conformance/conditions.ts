import type { ScheduleOptions } from 'shardwheel/durable';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../../fixtures/draws.ts';
import { all, latch, note, nothingMore, type Stores, soon } from './stores.ts';

const FAR = 1_000_000;
const ifAbsent = { ifAbsent: true };
const earlier = { keep: 'earlier' } as const;
const later = { keep: 'later' } as const;

/**
 * Of two timers of a key: what is there, how long before or after it the other is due, and whether that takes its
 * place.
 */
const cases: [options: ScheduleOptions, by: number, isChanged: boolean][] = [
  [{}, 0, true],
  [{ ifAbsent: false }, 5, true],
  [ifAbsent, -5, false],
  [ifAbsent, 0, false],
  [ifAbsent, 5, false],
  [earlier, -5, true],
  [earlier, 0, false],
  [earlier, 5, false],
  [later, -5, false],
  [later, 0, false],
  [later, 5, true],
];

/** What is scheduled only if nothing is, or if that is due later or earlier. */
export function testConditions(stores: Stores): void {
  describe.each([0, 60_000])('with persistAfter %i', (persistAfter) => {
    test('of two timers of a key the one stays that is to, with its payload and its deadline', async () => {
      const timers = await stores.start({ persistAfter });
      note(timers);
      for (const [at, [options, by, isChanged]] of cases.entries()) {
        const key = `${at}`;
        const deadline = soon(FAR);
        expect(await timers.schedule('a', key, deadline, 'there')).toBe(true);
        const what = `${JSON.stringify(options)}, ${by}`;
        expect(await timers.schedule('a', key, deadline + by, 'comes', options), what).toBe(isChanged);
        const kept = isChanged ? { deadline: deadline + by, payload: 'comes' } : { deadline, payload: 'there' };
        expect(await timers.get('a', key), what).toMatchObject(kept);
        expect(await timers.cancel('a', key)).toBe(true);
      }
      expect(await timers.count()).toBe(0);
    });

    test.each([ifAbsent, earlier, later])(
      'where nothing is scheduled %o schedules, once, and is delivered',
      async (options) => {
        const timers = await stores.start({ persistAfter });
        const seen = note(timers);
        expect(await timers.schedule('a', 'k', soon(FAR), 1)).toBe(true);
        expect(await timers.cancel('a', 'k')).toBe(true);
        const deadline = soon(1000); // until then two calls have been answered
        expect(await timers.schedule('a', 'k', deadline, 2, options)).toBe(true);
        expect(await timers.schedule('a', 'k', deadline, 3, options)).toBe(false);
        await stores.until(() => seen.length === 1);
        await nothingMore();
        expect(seen).toMatchObject([{ payload: 2, attempt: 1, early: false }]);
        expect(await timers.count()).toBe(0);
      },
    );

    test('an attempt that runs is not what is scheduled: what comes follows it, and then stays', async () => {
      const timers = await stores.start({ persistAfter });
      const { opened, open } = latch();
      const seen = note(timers, ({ payload }) =>
        payload === 'first' ? opened.then(() => Promise.reject(new Error('no'))) : undefined,
      );
      await timers.schedule('a', 'k', soon(0), 'first');
      await stores.until(() => seen.length === 1);
      const now = soon(0);
      expect(await timers.schedule('a', 'k', now + 200, 'next', ifAbsent)).toBe(true);
      expect(await timers.schedule('a', 'k', now, 'no', ifAbsent)).toBe(false);
      expect(await timers.schedule('a', 'k', now, 'no', later)).toBe(false);
      expect(await timers.schedule('a', 'k', now + 100, 'earlier', earlier)).toBe(true);
      open();
      await stores.until(() => seen.length === 2);
      await nothingMore();
      expect(seen).toMatchObject([{ payload: 'first' }, { payload: 'earlier', attempt: 1, early: false }]);
      expect(await timers.count()).toBe(0);
      expect(await all(timers.deadLetters('a'))).toEqual([]);
    });

    test('between two attempts a timer is scheduled, by the deadline that it was given', async () => {
      const timers = await stores.start({ persistAfter, retry: { attempts: 5, delay: 300_000, maxDelay: 300_000 } });
      const seen = note(timers, () => {
        throw new Error('as the test wants it');
      });
      const deadline = soon(0);
      await timers.schedule('a', 'k', deadline, 1);
      await stores.until(async () => seen.length === 1 && (await timers.get('a', 'k')) !== undefined);
      expect(await timers.schedule('a', 'k', soon(FAR), 2, ifAbsent)).toBe(false);
      expect(await timers.schedule('a', 'k', deadline, 2, later)).toBe(false);
      expect(await timers.schedule('a', 'k', deadline + 1, 2, earlier)).toBe(false);
      expect(await timers.get('a', 'k')).toMatchObject({ payload: 1, attempts: 1, deadline });
      expect(await timers.schedule('a', 'k', soon(FAR), 2, later)).toBe(true);
      expect(await timers.get('a', 'k')).toMatchObject({ payload: 2, attempts: 0 });
    });

    test('of many that race for a key exactly one finds it absent, and it is the one that stays', async () => {
      const several = await Promise.all([1, 2, 3].map(() => stores.start({ persistAfter })));
      for (const timers of several) note(timers);
      for (let key = 0; key < 20; key++) {
        const racing = Array.from({ length: 9 }, (_, at) =>
          several[at % 3].schedule('a', `${key}`, soon(FAR + at), at, ifAbsent),
        );
        const answers = await Promise.all(racing);
        expect(answers.filter((isChanged) => isChanged)).toHaveLength(1);
        for (const timers of several) {
          expect(await timers.get('a', `${key}`)).toMatchObject({ payload: answers.indexOf(true) });
        }
      }
      expect(await several[0].count('a')).toBe(20);
    });

    test(`of many that race for a key the one stays with the earliest, or latest, deadline, seed ${SEED}`, async () => {
      const draws = new Draws(SEED);
      const several = await Promise.all([1, 2, 3].map(() => stores.start({ persistAfter })));
      for (const timers of several) note(timers);
      const base = soon(FAR);
      for (const options of [earlier, later]) {
        for (let key = 0; key < 15; key++) {
          const deadlines = Array.from({ length: 9 }, () => base + draws.below(10));
          const racing = deadlines.map((deadline, at) =>
            several[at % 3].schedule('a', `${options.keep} ${key}`, deadline, at, options),
          );
          const answers = await Promise.all(racing);
          const kept = await several[0].get('a', `${options.keep} ${key}`);
          const best = options === earlier ? Math.min(...deadlines) : Math.max(...deadlines);
          expect(kept?.deadline).toBe(best);
          expect(deadlines[kept?.payload as number]).toBe(best);
          expect(answers[kept?.payload as number]).toBe(true);
          expect(answers.filter((isChanged, at) => isChanged && deadlines[at] === best)).toHaveLength(1);
        }
      }
    });
  });

  test('a timer that was scheduled for what was absent is stored before the call resolves', async () => {
    const timers = await stores.start({ persistAfter: 60_000 });
    note(timers);
    const other = await stores.start();
    await timers.schedule('a', 'k', soon(FAR), 1, ifAbsent);
    expect(await other.get('a', 'k')).toMatchObject({ payload: 1 });
    expect(await other.schedule('a', 'k', soon(FAR), 2, ifAbsent)).toBe(false);
    expect(await timers.stats()).toMatchObject({ young: 0 });
  });

  test('scheduleAfter schedules by a delay', async () => {
    const timers = await stores.start();
    const seen = note(timers);
    const before = Date.now();
    expect(await timers.scheduleAfter('a', 'later', FAR, 'p')).toBe(true);
    expect(await timers.scheduleAfter('a', 'later', 0, 'q', ifAbsent)).toBe(false);
    const found = await timers.get('a', 'later');
    expect(found).toMatchObject({ payload: 'p' });
    expect(found?.deadline).toBeGreaterThanOrEqual(before + FAR);
    expect(found?.deadline).toBeLessThanOrEqual(Date.now() + FAR);
    await timers.scheduleAfter('a', 'now', -5);
    await stores.until(() => seen.length === 1);
    expect(seen).toMatchObject([{ key: 'now' }]);
  });
}
