import { expect, test } from 'vitest';
import { all, latch, note, nothingMore, pause, type Stores, soon } from './stores.ts';

/** Timers are scheduled, moved, cancelled, found. */
export function testScheduling(stores: Stores): void {
  test.each([0, 1, 1024, 1025, 100_000])('a prefix of %i characters finds what begins with it', async (length) => {
    const timers = await stores.start();
    await timers.schedule('a', 'x'.repeat(1024), soon(1_000_000));
    const found = await all(timers.timers('a', 'x'.repeat(length)));
    expect(found).toHaveLength(length <= 1024 ? 1 : 0);
  });

  test('a prefix that ends within a character finds what begins with it, and one of no text finds nothing', async () => {
    const timers = await stores.start({ persistAfter: 60_000 });
    note(timers);
    const keys = ['a🙂', 'a🚀', 'a', 'b🙂', 'a🙂🙂'];
    for (const [at, key] of keys.entries()) {
      await timers.schedule('a', key, soon(1_000_000), undefined, { persistAfter: at % 2 === 0 ? 0 : 60_000 });
    }
    const found = async (prefix: string) => (await all(timers.timers('a', prefix))).map(({ key }) => key).sort();
    expect(await found('a\ud83d')).toEqual(['a🙂', 'a🙂🙂', 'a🚀'].sort());
    expect(await found('a🙂\ud83d')).toEqual(['a🙂🙂']);
    const none = ['\ud83d', 'a\ud83c', 'a\ude42', 'a\ud83d\ud83d', '\ud83dx', 'a\0', '\u0004'];
    for (const prefix of none) expect(await found(prefix)).toEqual([]);
  });

  test('a timer is delivered once, not early, with its payload', async () => {
    const timers = await stores.start();
    const seen = note(timers);
    const [list, big] = [[1, null, { deep: true }], 2n ** 70n];
    const payload = { text: 'ü', list, when: new Date(5), big, set: new Set([1]) };
    await timers.schedule('a', 'k', soon(), payload);
    await timers.schedule('a', 'long past', -5);
    await timers.schedule('a', 'none', new Date(soon()));
    await stores.until(() => seen.length === 3);
    await nothingMore();
    const sorted = seen.sort((one, other) => (one.key < other.key ? -1 : 1));
    expect(sorted).toEqual([
      { key: 'k', payload, attempt: 1, early: false },
      { key: 'long past', payload: undefined, attempt: 1, early: false },
      { key: 'none', payload: undefined, attempt: 1, early: false },
    ]);
    expect(await timers.count()).toBe(0);
    expect(await timers.get('a', 'k')).toBeUndefined();
  });

  test('reschedule moves what is there, with its payload, and makes nothing', async () => {
    const timers = await stores.start();
    const seen = note(timers);
    await timers.schedule('a', 'later', soon(1500), 'p');
    await timers.schedule('a', 'earlier', soon(1_000_000), 'p');
    const later = soon(2000);
    expect(await timers.reschedule('a', 'later', later)).toBe(true);
    expect(await timers.reschedule('a', 'earlier', new Date(soon()))).toBe(true);
    expect(await timers.reschedule('a', 'none', soon())).toBe(false);
    expect(await timers.get('a', 'later')).toMatchObject({ deadline: later, payload: 'p' });
    await stores.until(() => seen.length === 2);
    await nothingMore();
    expect(seen).toMatchObject([
      { key: 'earlier', payload: 'p', early: false },
      { key: 'later', payload: 'p', early: false },
    ]);
    expect(await timers.reschedule('a', 'later', soon())).toBe(false);
    expect(await timers.count()).toBe(0);
  });

  test('calls for one key take effect in their order, awaited or not', async () => {
    const timers = await stores.start();
    const seen = note(timers);
    const calls = [
      timers.schedule('a', 'k', soon(1_000_000), 1),
      timers.cancel('a', 'k'),
      timers.schedule('a', 'k', soon(1_000_000), 2),
      timers.schedule('a', 'k', soon(100), 3),
      timers.schedule('a', 'gone', soon(600), 1),
      timers.schedule('a', 'gone', soon(500), 2),
      timers.cancel('a', 'gone'),
      timers.cancel('a', 'gone'),
    ];
    const answers = await Promise.all(calls);
    expect(answers).toEqual([true, true, true, true, true, true, true, false]);
    await stores.until(() => seen.length === 1);
    await pause(700);
    expect(seen).toMatchObject([{ key: 'k', payload: 3 }]);
  });

  test('names are apart, and so are keys with any characters', async () => {
    const timers = await stores.start();
    const keys = ["1 : / a/b %2F * [x] ? \\ é 日本 🙂 '()!".split(' '), ' ', 'a\nb', 'x'.repeat(1024)].flat();
    const got: string[] = [];
    for (const name of ['a', 'a/b', 'b:c', '*'])
      timers.handle(name, (payload, { key }) => got.push(`${name} ${key} ${payload}`));
    for (const key of keys) {
      await timers.schedule('a', key, soon(60_000), 'a');
      await timers.schedule('a/b', key, soon(60_000), 'b');
    }
    for (const key of keys) {
      expect(await timers.get('a', key)).toMatchObject({ key, name: 'a', payload: 'a' });
      expect(await timers.cancel('b:c', key)).toBe(false);
      expect(await timers.cancel('a', key)).toBe(true);
      await timers.schedule('a/b', key, soon(0), 'now');
    }
    await stores.until(() => got.length === keys.length);
    expect(got.sort()).toEqual(keys.map((key) => `a/b ${key} now`).sort());
  });

  test('what waits for a handler of its name is there all the time: each look sees all, once', async () => {
    const timers = await stores.start({ concurrency: 1 });
    const { opened, open } = latch();
    let isRunning = false;
    timers.handle('a', () => {
      isRunning = true;
      return opened;
    });
    timers.handle('b', () => undefined);
    await timers.schedule('a', 'first', soon(0));
    await stores.until(() => isRunning);
    const keys = Array.from({ length: 20 }, (_, at) => `k${at}`).sort();
    for (const key of keys) await timers.schedule('a', key, soon(-1000));
    for (let look = 0; look < 100; look++) {
      const [count, ofName, seen] = [timers.count(), timers.count('a'), all(timers.timers('a'))];
      expect([await count, await ofName, (await seen).map(({ key }) => key).sort()]).toEqual([20, 20, keys]);
      await pause(Math.random() * 5);
    }
    open();
    await stores.until(async () => (await timers.count()) === 0);
  });

  test('count and iteration show what is there, by name and by prefix', async () => {
    const timers = await stores.start();
    const keys = Array.from({ length: 1300 }, (_, at) => `${at % 2 === 0 ? 'even' : 'odd'}-${at}`);
    await Promise.all(keys.map((key, at) => timers.schedule('a', key, soon(1_000_000), at)));
    await timers.schedule('b', 'even-b', soon(1_000_000));
    expect(await timers.count()).toBe(1301);
    expect(await timers.count('a')).toBe(1300);
    expect(await timers.count('c')).toBe(0);
    const found = await all(timers.timers('a', 'even-'));
    expect(found.map(({ key }) => key).sort()).toEqual(keys.filter((key) => key.startsWith('even-')).sort());
    expect(found.every(({ key, payload }) => key === `even-${payload}`)).toBe(true);
    expect(await all(timers.timers('a', 'no'))).toEqual([]);
    expect(await all(timers.timers('b'))).toMatchObject([{ key: 'even-b', payload: undefined }]);
  });
}
