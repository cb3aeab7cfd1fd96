import { createScheduler, type SchedulerOptions } from 'shardwheel';
import { expect, onTestFinished, test } from 'vitest';
import { all, note, nothingMore, type Stores, soon } from './stores.ts';

/** With `persistAfter`. */
export function testYoung(stores: Stores): void {
  test('young timers cost no write: cancelled, moved, delivered', async () => {
    const timers = await stores.start({ persistAfter: 10_000 });
    const seen = note(timers);
    for (let at = 0; at < 100; at++) await timers.schedule('a', `c${at}`, soon(5000), at);
    for (let at = 0; at < 100; at++) expect(await timers.cancel('a', `c${at}`)).toBe(true);
    await timers.schedule('a', 'k', soon(5000), 1);
    await timers.schedule('a', 'k', soon(4000), 2);
    expect(await timers.reschedule('a', 'k', soon(50))).toBe(true);
    expect(await timers.get('a', 'k')).toMatchObject({ payload: 2 });
    expect(await timers.count('a')).toBe(1);
    expect(await all(timers.timers('a'))).toMatchObject([{ key: 'k' }]);
    await stores.until(() => seen.length === 1);
    await nothingMore();
    expect(seen).toMatchObject([{ key: 'k', payload: 2, early: false }]);
    expect(await timers.stats()).toMatchObject({ young: 0, endedYoung: 101, store: { writes: 0, stored: 0 } });
  });

  test('a young timer is stored when it is old enough, on demand, and at the close', async () => {
    const timers = await stores.start({ persistAfter: 1500 });
    note(timers);
    await timers.schedule('a', 'old', soon(1_000_000));
    expect(await timers.stats()).toMatchObject({ young: 1, store: { stored: 0 } });
    await stores.until(async () => (await timers.stats()).young === 0);
    expect(await timers.stats()).toMatchObject({ store: { stored: 1 } });
    await timers.schedule('a', 'flushed', soon(1_000_000));
    await timers.flush();
    expect(await timers.stats()).toMatchObject({ young: 0, store: { stored: 2 } });
    await timers.schedule('a', 'at once', soon(1_000_000), undefined, { persistAfter: 0 });
    expect(await timers.stats()).toMatchObject({ young: 0, store: { stored: 3 } });
    await timers.schedule('a', 'closed', soon(1_000_000));
    await timers.close();
    const next = await stores.start();
    expect(await next.count('a')).toBe(4);
  });

  const coarse: SchedulerOptions[] = [{}, { slack: 8191 }, { tick: 5000 }, { clock: 'manual' }];
  test.each(coarse.map((options) => [JSON.stringify(options), options] as const))(
    "a young timer is stored, and delivered, in real time whatever the caller's scheduler is: %s",
    async (_, options) => {
      const scheduler = createScheduler({ shards: 0, ...options });
      onTestFinished(async () => void (await scheduler.close()));
      const timers = await stores.start({ scheduler, persistAfter: 200 });
      const seen = note(timers);
      await timers.schedule('a', 'far', soon(1_000_000));
      await timers.schedule('a', 'soon', soon(300));
      await timers.schedule('a', 'young', soon(100), undefined, { persistAfter: 60_000 });
      await stores.until(async () => (await timers.stats()).young === 0);
      expect(await timers.get('a', 'far')).toBeDefined();
      await stores.until(() => seen.length === 2);
      expect(seen.map(({ key }) => key).sort()).toEqual(['soon', 'young']);
      expect(seen.some(({ early }) => early)).toBe(false);
      expect(await timers.count()).toBe(1);
    },
    10_000,
  );

  test('a timer that is on its way to the store is counted once, and seen once', async () => {
    const timers = await stores.start({ persistAfter: 60_000 });
    note(timers);
    for (let at = 0; at < 20; at++) await timers.schedule('a', `k${at}`, soon(1_000_000));
    const counts = new Set<number>();
    let isStored = false;
    const flushed = timers.flush().then(() => {
      isStored = true;
    });
    do {
      counts.add(await timers.count('a'));
      counts.add((await all(timers.timers('a'))).length);
      await new Promise(setImmediate);
    } while (!isStored);
    await flushed;
    expect([...counts]).toEqual([20]);
    expect(await timers.count()).toBe(20);
  });

  test('a stored timer that is moved stays stored, with persistAfter too', async () => {
    const timers = await stores.start({ persistAfter: 60_000 });
    note(timers);
    await timers.schedule('a', 'k', soon(1_000_000), 1, { persistAfter: 0 });
    await timers.schedule('a', 'k', soon(2_000_000), 2);
    const other = await stores.start();
    expect(await other.get('a', 'k')).toMatchObject({ payload: 2 });
    expect(await timers.count()).toBe(1);
  });
}
