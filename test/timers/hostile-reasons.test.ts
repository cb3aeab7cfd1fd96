import { createScheduler } from 'shardwheel';
import { setInterval as every, setTimeout as sleep } from 'shardwheel/timers/promises';
import { describe, expect, test } from 'vitest';

// All waiters of a signal share a listener: a reason that cannot be looked at must not keep one of them waiting.

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable(new Error('gone'), {});
  revoke();
  return proxy;
}

const thrower = () => {
  throw new Error('a getter of the reason');
};

const reasons: Record<string, () => unknown> = {
  'a revoked proxy': revoked,
  'an error whose name throws': () => Object.defineProperty(new Error('nameless'), 'name', { get: thrower }),
  'a TimeoutError whose message throws': () =>
    Object.defineProperties(new Error('x'), { name: { value: 'TimeoutError' }, message: { get: thrower } }),
  'a proxy whose traps throw': () => new Proxy(new Error('x'), { get: thrower, getPrototypeOf: thrower, has: thrower }),
  'an object whose inspect throws': () => ({ [Symbol.for('nodejs.util.inspect.custom')]: thrower }),
  'undefined, as null': () => null,
};

describe.each(Object.entries(reasons))('a signal is aborted with %s', (_, make) => {
  test('every waiter hears of it, in whatever order they began to wait', async () => {
    const scheduler = createScheduler({ shards: 0 });
    const reason = make();
    const controller = new AbortController();
    const { signal } = controller;
    const inner = scheduler.signalAfter(60_000, { signal });
    let worked: AbortSignal | undefined;
    const waits = [
      scheduler.sleep(60_000, { signal }),
      sleep(60_000, undefined, { signal }),
      scheduler.withTimeout(new Promise(() => undefined), 60_000, { signal }),
      every(60_000, undefined, { signal }).next(),
      scheduler.withTimeout(
        (given) => {
          worked = given;
          return new Promise(() => undefined);
        },
        60_000,
        { signal },
      ),
      sleep(60_000, undefined, { signal, ref: false }),
      scheduler.sleep(60_000, { signal }),
    ];
    controller.abort(reason);
    const ends = await Promise.allSettled(waits);
    for (const end of ends) {
      const { reason: error } = end as PromiseRejectedResult;
      expect(error).toBeInstanceOf(Error);
      expect([error.name, error.code, error.message]).toEqual(['AbortError', 'ABORT_ERR', 'The operation was aborted']);
      expect(Object.is(error.cause, reason)).toBe(true);
    }
    expect(ends.length).toBe(7);
    expect([inner.aborted, Object.is(inner.reason, reason)]).toEqual([true, true]);
    expect([worked?.aborted, Object.is(worked?.reason, reason)]).toEqual([true, true]);
    expect(scheduler.size).toBe(0);
    await scheduler.close();

    // One that has aborted already.
    await expect(sleep(1, undefined, { signal })).rejects.toMatchObject({ code: 'ABORT_ERR' });
    await expect(every(1, undefined, { signal }).next()).rejects.toMatchObject({ code: 'ABORT_ERR' });
  });
});
