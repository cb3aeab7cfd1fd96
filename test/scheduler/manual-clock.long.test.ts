import { createScheduler, InvalidConfigError, type Scheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { describe, expect, test, vi } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { manual } from './manual.ts';

const TIMERS = 300;

/**
 * Sets timers at random, whose callbacks and promises set others. Returns what it has seen: the time at which each
 * came, by name.
 */
function drawnProgram(scheduler: Scheduler, draws: Draws, until: number) {
  const seen: [due: number, now: number][] = [];
  let left = TIMERS;
  const timers = createTimers(scheduler);
  const note = (due: number) => seen.push([Math.ceil(due), scheduler.now()]);
  const more = () => {
    for (let count = draws.below(3); count > 0 && left > 0; count--) one();
  };
  const one = () => {
    left -= 1;
    const delay = 1 + draws.below(40);
    const due = scheduler.now() + delay;
    if (due > until) return;
    const came = () => {
      note(due);
      more();
    };
    const kinds = [
      () => void scheduler.schedule(left, due, came),
      () => void scheduler.sleep(delay, { workerHint: left }).then(came),
      () => void timers.setTimeout(came, delay),
      () =>
        void timers.promises.setTimeout(delay).then(async () => {
          for (let hop = 0; hop < 20; hop++) await undefined;
          came();
        }),
      () => {
        const id = scheduler.schedule(left, due - draws.below(delay), came);
        scheduler.reschedule(id, due); // to later: no command
      },
      () => {
        scheduler.cancel(scheduler.schedule(left, due - draws.below(delay), came));
        scheduler.schedule(left, due, came);
      },
    ];
    draws.pick(kinds)();
  };
  for (let count = 0; count < 10; count++) one();
  return { seen, isSpent: () => left === 0 };
}

describe.each([0, 1, 2])('▲ advanceTo goes from due time to due time: shards %i', (shards) => {
  test('what a wait leads to comes in its turn', async () => {
    await using scheduler = await manual({ shards });
    const seen: number[] = [];
    const program = (async () => {
      await scheduler.sleep(100);
      seen.push(scheduler.now());
      await scheduler.sleep(100);
      seen.push(scheduler.now());
    })();
    expect(await scheduler.advanceTo(200)).toBe(2);
    await program;
    expect([seen, scheduler.now()]).toEqual([[100, 200], 200]);
  });

  test('with jump it is one step, as a blocked loop sees it', async () => {
    await using scheduler = await manual({ shards });
    const seen: number[] = [];
    void (async () => {
      for (let wait = 0; wait < 2; wait++) {
        await scheduler.sleep(100);
        seen.push(scheduler.now());
      }
    })();
    scheduler.scheduleEvery('a', 40, () => seen.push(scheduler.now()));
    expect(await scheduler.advanceTo(200, { jump: true })).toBe(2);
    expect(seen.toSorted()).toEqual([200, 200]);
    await scheduler.advanceTo(300);
    expect(seen).toEqual([200, 200, 240, 280, 300]);
  });

  test(`random programs: each timer at its own time, in order, seed ${SEED}`, async () => {
    const draws = new Draws(SEED + shards);
    let [came, spent] = [0, 0];
    for (let run = 0; run < (shards === 0 ? 30 : 6); run++) {
      await using scheduler = await manual({ shards, maxBatch: draws.pick([1, 7, 8192]) });
      const { seen, isSpent } = drawnProgram(scheduler, draws, 900);
      let to = 0;
      let delivered = 0;
      while (to < 1000) {
        to = Math.min(1000, to + draws.pick([0.5, 10, 333, 1000]));
        delivered += await scheduler.advanceTo(to);
        expect(scheduler.now()).toBe(to);
      }
      expect(seen.filter(([due, now]) => due !== now)).toEqual([]);
      expect(seen.map(([, now]) => now)).toEqual(seen.map(([, now]) => now).toSorted((one, other) => one - other));
      expect([delivered, scheduler.size]).toEqual([seen.length, 0]);
      came += seen.length;
      if (isSpent()) spent += 1;
    }
    expect(came).toBeGreaterThan(100);
    if (shards === 0) expect(spent).toBeGreaterThan(0); // of 30 programs some spend all; of 6 it may be none
  });

  test('stops only where something is delivered', async () => {
    await using scheduler = await manual({ shards });
    for (let at = 1; at < 500; at++) {
      const ids = [scheduler.schedule(at, at), scheduler.schedule(at, 10 * at)];
      scheduler.cancel(ids[0]);
      if (at % 50 > 0) scheduler.cancel(ids[1]);
      else scheduler.reschedule(ids[1], 20 * at); // to later: the index has the old entry
    }
    const stops: number[] = [];
    scheduler.on('fired', ({ now, length }) => stops.push(now, length));
    const clock = scheduler as unknown as { now(): number };
    expect(clock.now()).toBe(0);
    expect(await scheduler.advanceTo(20_000)).toBe(9);
    expect(stops).toEqual([1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000].flatMap((now) => [now, 1]));
  });

  test('an interval of the drop-in face, and one of the scheduler, make each call in time', async () => {
    await using scheduler = await manual({ shards });
    const { setInterval } = createTimers(scheduler);
    const seen: number[] = [];
    setInterval(() => seen.push(scheduler.now()), 10);
    scheduler.scheduleEvery('a', 15, () => seen.push(scheduler.now()));
    expect(await scheduler.advanceTo(60)).toBe(10);
    expect(seen).toEqual([10, 15, 20, 30, 30, 40, 45, 50, 60, 60]);
  });

  test('an error of a callback ends neither the walk nor the others', async () => {
    await using scheduler = await manual({ shards });
    const errors: unknown[] = [];
    scheduler.on('error', (error) => errors.push((error as Error).message));
    const seen: number[] = [];
    for (let at = 1; at <= 10; at++) {
      scheduler.schedule(at, at * 10, () => {
        seen.push(scheduler.now());
        if (at % 2 === 0) throw new Error(`of ${at}`);
      });
    }
    expect(await scheduler.advanceTo(100)).toBe(10);
    expect(seen).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    expect(errors).toEqual(['of 2', 'of 4', 'of 6', 'of 8', 'of 10']);
  });

  test('close() during it, by a callback or a reaction, ends it where it is', async () => {
    for (const isReaction of [false, true]) {
      const scheduler = await manual({ shards });
      let closing: Promise<unknown[]> | undefined;
      const close = () => {
        closing = scheduler.close();
      };
      if (isReaction) void scheduler.sleep(50).then(close);
      else scheduler.schedule('a', 50, close);
      scheduler.schedule('a', 20);
      scheduler.schedule('b', 60);
      expect(await scheduler.advanceTo(100)).toBe(2);
      expect(await closing).toMatchObject([{ deadline: 60 }]);
    }
  });

  test('calls that overlap go one after the other, and one within a callback follows', async () => {
    await using scheduler = await manual({ shards });
    const seen: unknown[] = [];
    scheduler.schedule('a', 10, () => void scheduler.advanceTo(40).then((count) => seen.push(['inner', count])));
    scheduler.schedule('a', 30, () => seen.push(30));
    const outer = [scheduler.advanceTo(20), scheduler.advanceTo(25), scheduler.advanceTo(5)];
    expect(await Promise.all(outer)).toEqual([1, 0, 0]);
    await scheduler.advanceTo(41);
    expect([seen, scheduler.now()]).toEqual([[30, ['inner', 1]], 41]);
  });
});

test('no timer of the program has a part in it', async () => {
  await using scheduler = await manual({ shards: 0 });
  vi.useFakeTimers({
    toFake: ['setTimeout', 'setImmediate', 'setInterval', 'queueMicrotask', 'performance', 'Date'],
  });
  try {
    const waits = scheduler.sleep(100).then(() => scheduler.sleep(100));
    expect(await scheduler.advanceTo(200)).toBe(2);
    await waits;
  } finally {
    vi.useRealTimers();
  }
});

test('options that cannot be meant are refused', async () => {
  await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
  await expect(scheduler.advanceTo(1, { jmp: true } as never)).rejects.toThrow("did you mean 'jump'?");
  await expect(scheduler.advanceTo(1, { jump: 1 } as never)).rejects.toThrow(InvalidConfigError);
  expect(scheduler.now()).toBe(0);
});

describe.each([0, 1])('the end of the clock: shards %i', (shards) => {
  const last = Number.MAX_SAFE_INTEGER;

  test.each([true, false])('what no clock reaches waits for ever, and advanceTo returns: jump %s', async (jump) => {
    const scheduler = await manual({ shards });
    const beyond = [2 ** 53, 2 ** 60, Number.MAX_VALUE].map((deadline) => scheduler.schedule(1, deadline));
    const seen: number[] = [];
    scheduler.schedule(1, last, () => {
      seen.push(scheduler.now());
      scheduler.scheduleAfter(1, 0, () => seen.push(-1)); // its next tick does not come
    });
    scheduler.scheduleEvery(1, 2 ** 53, () => seen.push(scheduler.now()), undefined, { first: 5 });
    scheduler.scheduleEvery(1, Number.MAX_VALUE, () => seen.push(scheduler.now()), undefined, { first: 7 });
    await scheduler.advanceTo(10);
    expect(seen).toEqual([5, 7]);
    createTimers(scheduler).setTimeout(() => seen.push(-1), last); // from 10 ms on
    expect(await scheduler.nextExpiration()).toBe(last);
    await scheduler.advanceTo(last, { jump });
    expect(seen.slice(0, 3)).toEqual([5, 7, last]);
    expect(beyond.every((id) => scheduler.has(id))).toBe(true);
    expect((await scheduler.close()).length).toBeGreaterThanOrEqual(5);
  });
});
