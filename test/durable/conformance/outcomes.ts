import { expect, test } from 'vitest';
import { all, nothingMore, pause, type Stores, soon } from './stores.ts';

const no = (): never => {
  throw new Error('no');
};

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** What handlers reject with, and the reason that is kept. */
const rejections: [what: string, thrown: () => unknown, reason: string | RegExp][] = [
  ['undefined', () => undefined, 'undefined'],
  ['null', () => null, 'null'],
  ['a text', () => 'text', 'text'],
  ['an object without a prototype', () => Object.assign(Object.create(null), { code: 1 }), /code: 1/],
  ['an error whose message is an object', () => Object.assign(new Error('x'), { message: { deep: 1 } }), /deep: 1/],
  ['an error whose message throws', () => Object.defineProperty(new Error('x'), 'message', { get: no }), /./],
  ['an object that cannot be made a string', () => ({ toString: no }), /toString/],
  ['a revoked proxy', revokedProxy, /./],
  ['a symbol', () => Symbol('s'), /Symbol\(s\)/],
  ...['UnrecoverableError', 'DelayedError', 'WaitingError', 'WaitingChildrenError', 'RateLimitError'].map(
    (name): [string, () => unknown, string] => [
      `an error named ${name}`,
      () => Object.assign(new Error('named'), { name }),
      'named',
    ],
  ),
  ['an error of a text of BullMQ', () => new Error('bullmq:rateLimitExceeded'), 'bullmq:rateLimitExceeded'],
  ['an error that says it lost a lock', () => new Error('Missing lock for job 1. moveToFinished'), /Missing lock/],
];

/** Whatever a handler rejects with is a failed attempt, and no more. */
export function testOutcomes(stores: Stores): void {
  test.each([0, 60_000])('any rejection counts as a failed attempt, persistAfter %i', async (persistAfter) => {
    const timers = await stores.start({ persistAfter, retry: { attempts: 3, delay: 5 } });
    const errors: unknown[] = [];
    timers.on('error', (error) => errors.push(error));
    const attempts = new Map<string, number[]>();
    timers.handle('a', async (at, { key, attempt }) => {
      attempts.set(key, [...(attempts.get(key) ?? []), attempt]);
      throw rejections[at as number][1]();
    });
    await Promise.all(rejections.map(([what], at) => timers.schedule('a', what, soon(0), at)));
    await stores.until(async () => (await timers.stats()).died === rejections.length);
    await nothingMore();
    const letters = await all(timers.deadLetters('a'));
    for (const [at, [what, , reason]] of rejections.entries()) {
      expect(attempts.get(what), what).toEqual([1, 2, 3]);
      const letter = letters.find(({ key }) => key === what);
      expect(letter, what).toMatchObject({ attempts: 3, payload: at });
      expect(letter?.reason, what).toMatch(typeof reason === 'string' ? new RegExp(`^${reason}$`) : reason);
    }
    expect(errors).toEqual([]);
    expect(await timers.count()).toBe(0);
  });

  test('the last dead letter of a key is kept; any number is seen, whatever is removed meanwhile', async () => {
    const timers = await stores.start({ retry: { attempts: 1 }, concurrency: 1000 });
    timers.handle('a', (payload) => Promise.reject(new Error(`for ${payload}`)));
    const keys = Array.from({ length: 700 }, (_, at) => `${at}`);
    for (const payload of [1, 2]) {
      await Promise.all(keys.map((key) => timers.schedule('a', key, soon(0), payload)));
      await stores.until(async () => (await timers.stats()).died === payload * keys.length);
    }
    expect((await timers.stats()).store?.dead).toBe(700);
    const seen: string[] = [];
    for await (const { key, reason } of timers.deadLetters('a')) {
      expect(reason).toBe('for 2');
      seen.push(key);
      expect(await timers.removeDeadLetter('a', key)).toBe(true);
    }
    expect(seen.sort()).toEqual(keys.sort());
    expect((await timers.stats()).store?.dead).toBe(0);
  });

  test('no two handlers of a key overlap, and the last schedule wins, whatever is scheduled while they run', async () => {
    const [one, other] = [await stores.start({ persistAfter: 0 }), await stores.start()];
    let running = 0;
    let most = 0;
    const payloads: unknown[] = [];
    for (const timers of [one, other]) {
      timers.handle('a', async (payload, { attempt }) => {
        running += 1;
        most = Math.max(most, running);
        payloads.push(payload);
        await pause(20);
        running -= 1;
        if (attempt === 1) throw new Error('once more');
      });
    }
    for (let at = 0; at < 60; at++) {
      await (at % 2 === 0 ? one : other).schedule('a', 'k', soon(0), at);
      await pause(7);
    }
    await stores.until(() => running === 0 && payloads.filter((payload) => payload === 59).length === 2);
    await nothingMore();
    expect(most).toBe(1);
    expect(payloads.slice(-2)).toEqual([59, 59]);
    expect(await one.count()).toBe(0);
    expect(payloads).toEqual([...payloads].sort((a, b) => Number(a) - Number(b)));
  });

  test('timers and counts of durable timers that are closed meanwhile reject by name', async () => {
    const timers = await stores.start();
    await Promise.all(Array.from({ length: 1200 }, (_, at) => timers.schedule('a', `${at}`, soon(1e6))));
    const steps = timers.timers('a');
    await steps.next();
    const count = expect(timers.count('a')).rejects.toMatchObject({ code: 'ERR_DURABLE_TIMERS_CLOSED' });
    await timers.close();
    await count;
    await expect(all(steps)).rejects.toMatchObject({ code: 'ERR_DURABLE_TIMERS_CLOSED' });
  });
}
