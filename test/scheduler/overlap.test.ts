import { createScheduler, type MissedCalls, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { pass } from '../fixtures/event-loop.ts';
import { manual } from './manual.ts';

/** Like `sleep`, but close() leaves it pending. */
const later = (scheduler: Scheduler, delay: number): Promise<void> =>
  new Promise((resolve) => void scheduler.scheduleAfter('a', delay, () => resolve()));

describe.each([0, 1])('▲ overlap: false: shards %i', (shards) => {
  test.each<[MissedCalls, number[]]>([
    ['skip', [100, 400, 700]],
    ['burst', [100, 400, 700]],
    ['delay', [100, 400, 700]],
  ])('a call that falls due while the last one is under way is not made, and is counted: %s', async (missed, calls) => {
    await using scheduler = await manual({ shards });
    const seen: number[] = [];
    const call = async () => {
      seen.push(scheduler.now());
      await later(scheduler, 250);
    };
    scheduler.scheduleEvery('a', 100, call, undefined, { missedCalls: missed, overlap: false });
    await scheduler.advanceTo(900);
    expect(seen).toEqual(calls);
    // 200, 300, 500, 600, 800 and 900 are not made; two sleeps have ended.
    expect(await scheduler.stats()).toMatchObject({ overlapped: 6, delivered: calls.length + 2, scheduled: 4 });
  });

  test('by default calls overlap', async () => {
    await using scheduler = await manual({ shards });
    const seen: number[] = [];
    const call = async () => {
      seen.push(scheduler.now());
      await later(scheduler, 250);
    };
    scheduler.scheduleEvery('a', 100, call);
    scheduler.scheduleEvery('a', 100, call, undefined, { overlap: true });
    await scheduler.advanceTo(300);
    expect(seen).toEqual([100, 100, 200, 200, 300, 300]);
    expect(await scheduler.stats()).toMatchObject({ overlapped: 0 });
  });

  test('what a callback returns that is no promise, or throws, delays nothing', async () => {
    await using scheduler = await manual({ shards });
    scheduler.on('error', () => undefined);
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const returned = [
      1,
      null,
      {},
      () => undefined,
      revoked.proxy,
      Promise.resolve(1),
      Object.defineProperty(Promise.resolve(1), 'constructor', {
        get: () => {
          throw new Error('of the constructor');
        },
      }),
      Object.defineProperty({}, 'then', {
        get: () => {
          throw new Error('of the getter');
        },
      }),
    ];
    let calls = 0;
    for (const value of returned) {
      const call = () => {
        calls += 1;
        return value;
      };
      scheduler.scheduleEvery('a', 10, call as () => void, undefined, { overlap: false });
    }
    const throwing = () => {
      calls += 1;
      throw new Error('thrown');
    };
    scheduler.scheduleEvery('a', 10, throwing, undefined, { overlap: false });
    await scheduler.advanceTo(50);
    expect(calls).toBe(5 * (returned.length + 1));
  });

  test('a thenable of another kind counts as a promise', async () => {
    await using scheduler = await manual({ shards });
    const seen: number[] = [];
    let resolve: (() => void) | undefined;
    const call = () => {
      seen.push(scheduler.now());
      const then = (settled: () => void) => {
        resolve = settled;
      };
      return Object.defineProperty({}, 'then', { value: then });
    };
    scheduler.scheduleEvery('a', 10, call as () => void, undefined, { overlap: false });
    await scheduler.advanceTo(35);
    resolve?.();
    await scheduler.advanceTo(50);
    expect(seen).toEqual([10, 40]);
  });

  test('moved or cancelled while a call is under way, and its slot given to another', async () => {
    await using scheduler = await manual({ shards, capacity: 1 });
    const seen: unknown[] = [];
    let settle: (() => void) | undefined;
    const waiting = (name: string) => () => {
      seen.push([name, scheduler.now()]);
      return new Promise<void>((resolve) => {
        settle = resolve;
      });
    };
    const first = scheduler.scheduleEvery('a', 10, waiting('one'), undefined, { overlap: false });
    await scheduler.advanceTo(10);
    scheduler.reschedule(first, 13);
    await scheduler.advanceTo(15);
    const settleFirst = settle;
    scheduler.cancel(first);
    scheduler.scheduleEvery('a', 10, waiting('two'), undefined, { overlap: false });
    await scheduler.advanceTo(25); // its slot's last timer had a call under way: it does not count
    settleFirst?.(); // nor its end
    await scheduler.advanceTo(45);
    settle?.();
    await scheduler.advanceTo(55);
    expect(seen).toEqual([
      ['one', 10],
      ['two', 25],
      ['two', 55],
    ]);
    expect(await scheduler.stats()).toMatchObject({ overlapped: 3 });
  });

  test('a promise that rejects ends the wait, and is unhandled, as without the option', async () => {
    await using scheduler = await manual({ shards });
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
    try {
      const seen: number[] = [];
      const call = async () => {
        seen.push(scheduler.now());
        await later(scheduler, 15);
        throw `of ${seen.length}`;
      };
      scheduler.scheduleEvery('a', 10, call, undefined, { overlap: false });
      await scheduler.advanceTo(50);
      await pass(3);
      expect([seen, unhandled]).toEqual([
        [10, 30, 50],
        ['of 1', 'of 2'],
      ]);
    } finally {
      process.removeListener('unhandledRejection', note);
      for (const listener of others) process.on('unhandledRejection', listener);
    }
  });

  test('after close() a promise that was pending has hold of nothing', async () => {
    const scheduler = await manual({ shards });
    let settle: (() => void) | undefined;
    const call = () =>
      new Promise<void>((resolve) => {
        settle = resolve;
      });
    scheduler.scheduleEvery('a', 10, call, undefined, { overlap: false });
    await scheduler.advanceTo(10);
    await scheduler.close();
    settle?.();
    await pass(3);
    expect(scheduler.size).toBe(0);
  });
});

test('what is checked of the options is what is used, and one that closes the scheduler gets no id', async () => {
  const scheduler = createScheduler({ shards: 0, capacity: 16 });
  const answers = [5, 5, Number.NaN, Number.NaN];
  const changing = {
    get first() {
      return answers.shift();
    },
  };
  for (let asked = 0; answers.length > 0 && asked < 4; asked++) {
    const isRefused = answers.length <= 2;
    const start = () => scheduler.scheduleEvery('a', 10, undefined, undefined, changing);
    if (isRefused) expect(start).toThrow('options.first must be a finite number');
    else expect(start).not.toThrow();
  }
  expect(() => scheduler.scheduleEvery('a', 10, undefined, undefined, { overlap: 1 } as never)).toThrow(
    'options.overlap must be true or false, got 1',
  );
  const closing = {
    get missedCalls() {
      void scheduler.close();
      return 'skip' as const;
    },
  };
  expect(() => scheduler.scheduleEvery('a', 10, undefined, undefined, closing)).toThrow(
    expect.objectContaining({ code: 'ERR_SCHEDULER_CLOSED' }),
  );
});

test.each([0, 1])(
  'moved to the end of doubles, it makes the calls that are due and no more: shards %i',
  async (shards) => {
    await using scheduler = await manual({ shards });
    for (const [missedCalls, expected] of [
      ['skip', 10],
      ['burst', 11], // the one that is due makes up for what cannot be counted
      ['delay', 11],
    ] as const) {
      const begun = scheduler.now();
      let calls = 0;
      const count = () => {
        calls += 1;
      };
      const id = scheduler.scheduleEvery('a', 50, count, undefined, { missedCalls });
      scheduler.reschedule(id, -Number.MAX_VALUE);
      await scheduler.advanceTo(begun + 501);
      expect(Math.abs(calls - expected)).toBeLessThanOrEqual(1);
      scheduler.cancel(id);
    }
  },
);
