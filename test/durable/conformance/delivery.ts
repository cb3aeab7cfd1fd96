import { expect, test } from 'vitest';
import { all, note, nothingMore, pause, type Stores, soon } from './stores.ts';

/** Handlers, their failures, and what comes meanwhile. */
export function testDelivery(stores: Stores): void {
  test('a handler that throws is called again with the next attempt, until it resolves', async () => {
    const timers = await stores.start();
    const seen = note(timers, ({ attempt }) => {
      if (attempt < 3) throw new Error('not yet');
    });
    await timers.schedule('a', 'k', soon(), 'p');
    await stores.until(() => seen.length === 3);
    await nothingMore();
    expect(seen).toMatchObject([1, 2, 3].map((attempt) => ({ key: 'k', payload: 'p', attempt })));
    expect(await timers.stats()).toMatchObject({ delivered: 1, failed: 2, retried: 2, died: 0 });
    expect(await timers.count()).toBe(0);
  });

  test('after its last attempt a timer is dead: kept, listed, and forgotten on demand', async () => {
    const timers = await stores.start({ retry: { attempts: 2, delay: 10 } });
    const seen = note(timers, () => Promise.reject(new Error('broken')));
    const letters: unknown[] = [];
    timers.on('dead', (letter) => letters.push(letter));
    const deadline = soon();
    await timers.schedule('a', 'k', deadline, 'p');
    await stores.until(() => letters.length === 1);
    await nothingMore();
    expect(seen).toHaveLength(2);
    const timer = { name: 'a', key: 'k', deadline, payload: 'p', attempts: 2 };
    const letter = { ...timer, reason: 'broken', diedAt: expect.any(Number) };
    expect(letters).toEqual([letter]);
    expect(await all(timers.deadLetters('a'))).toEqual([letter]);
    expect(await all(timers.deadLetters('b'))).toEqual([]);
    expect(await timers.count()).toBe(0);
    expect(await timers.stats()).toMatchObject({ died: 1, store: { dead: 1 } });
    expect(await timers.removeDeadLetter('a', 'x')).toBe(false);
    expect(await timers.removeDeadLetter('a', 'k')).toBe(true);
    expect(await timers.removeDeadLetter('a', 'k')).toBe(false);
    expect(await all(timers.deadLetters('a'))).toEqual([]);
  });

  test('a handler may schedule its own key: the next delivery comes after this one, at its time', async () => {
    const timers = await stores.start();
    const times: number[] = [];
    const seen = note(timers, async ({ payload }) => {
      times.push(Date.now());
      if ((payload as number) < 3) await timers.schedule('a', 'k', Date.now() + 100, (payload as number) + 1);
      await pause(60);
    });
    await timers.schedule('a', 'k', soon(0), 1);
    await stores.until(() => seen.length === 3);
    await nothingMore();
    expect(seen).toMatchObject([1, 2, 3].map((payload) => ({ payload, attempt: 1, early: false })));
    expect(times[1] - times[0]).toBeGreaterThanOrEqual(100);
    expect(await timers.count()).toBe(0);
  });

  test('at most as many handlers run as allowed', async () => {
    const timers = await stores.start({ concurrency: 3 });
    let running = 0;
    let most = 0;
    const seen = note(timers, async () => {
      running += 1;
      most = Math.max(most, running);
      await pause(10);
      running -= 1;
    });
    const deadline = soon(100);
    await Promise.all(Array.from({ length: 30 }, (_, at) => timers.schedule('a', `${at}`, deadline)));
    await stores.until(() => seen.length === 30);
    expect(most).toBe(3);
  });
}
