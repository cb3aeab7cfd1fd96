import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { clockOrigin, MonotonicClock } from '../../src/time/monotonic-clock.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { runThreads } from '../lane/run-threads.ts';
import { tapAtomics, visiting } from '../shard/shared-access.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('SharedClock', () => {
  test('a manual clock stands where it was set, for everybody, and never goes back', () => {
    const memory = SharedClock.allocate(true, 2);
    const [one, other] = [new SharedClock(memory), new SharedClock(memory)];
    expect(one.now()).toBe(0);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.double({ noNaN: true })), { maxLength: 50, size: 'max' }),
        (moves) => {
          for (const [first, time] of moves) {
            const before = other.published();
            (first ? one : other).set(time);
            const expected = Math.max(before, time);
            for (const clock of [one, other]) {
              expect([clock.now(), clock.published(), clock.exact(), clock.refresh()]).toEqual(Array(4).fill(expected));
            }
          }
        },
      ),
    );
  });

  test('is raised although another writer comes in between, and not lowered', () => {
    const release = tapAtomics();
    try {
      for (const between of [50, 100, 150]) {
        for (let stop = 1; stop <= 2; stop++) {
          const memory = SharedClock.allocate(true, 1);
          const [one, other] = [new SharedClock(memory), new SharedClock(memory)];
          let access = 0;
          const visit = () => {
            access += 1;
            if (access === stop) other.set(between);
          };
          visiting(visit, () => one.set(100));
          expect(access).toBeGreaterThanOrEqual(stop);
          expect(one.published()).toBe(Math.max(100, between));
        }
      }
    } finally {
      release();
    }
  });

  test('keeps every double as it is', () => {
    for (const time of [Number.MIN_VALUE, 0.1, 1 / 3, 2 ** 31 + 0.25, 2 ** 53, Number.MAX_VALUE]) {
      const clock = new SharedClock(SharedClock.allocate(true, 1));
      clock.set(time);
      expect(clock.now()).toBe(time);
    }
  });

  test('a running clock is not stale while no shard is awake, and reads the slot alone while one is', async () => {
    const memory = SharedClock.allocate(false, 100);
    const clock = new SharedClock(memory);
    const source = new MonotonicClock(memory.origin);
    for (const shard of [0, 31, 32, 99]) {
      const before = source.now();
      expect(clock.now()).toBeGreaterThanOrEqual(before);
      clock.setAwake(shard, true);
      const raised = clock.now();
      while (source.now() < raised + 1);
      expect(clock.now()).toBe(raised);
      expect(clock.refresh()).toBeGreaterThan(raised);
      clock.setAwake(shard, false);
      clock.setAwake(shard, false); // saying so twice does no harm
      const after = source.now();
      expect(clock.now()).toBeGreaterThanOrEqual(after);
    }
  });

  test('does not fall where one thread has measured its clock to run ahead of another', () => {
    const memory = SharedClock.allocate(false, 1);
    const [ahead, behind] = [new SharedClock(memory), new SharedClock(memory)];
    const monotonic = Reflect.get(ahead, 'monotonic') as { offset: number };
    monotonic.offset += 50;
    ahead.setAwake(0, true);
    const raised = ahead.refresh();
    expect(behind.now()).toBe(raised);
    ahead.setAwake(0, false);
    expect(behind.now()).toBeGreaterThanOrEqual(raised);
  });

  test('is awake as long as one shard is', () => {
    const clock = new SharedClock(SharedClock.allocate(false, 64));
    clock.setAwake(3, true);
    clock.setAwake(63, true);
    clock.setAwake(3, false);
    const raised = clock.now();
    const source = new MonotonicClock(clock.memory.origin);
    while (source.now() < raised + 1);
    expect(clock.now()).toBe(raised);
  });

  test('goes on where a test fakes the timers of its thread', () => {
    const clock = new SharedClock(SharedClock.allocate(false, 1));
    vi.useFakeTimers();
    const before = clock.now();
    for (let i = 0; i < 1e6 && clock.now() === before; i++);
    expect(clock.now()).toBeGreaterThan(before);
  });

  test('never falls, with three threads that write and all that read', async () => {
    const memory = SharedClock.allocate(false, 2);
    const results = await runThreads(
      ...[0, 1, 2].map((number) => ({ script: 'clock', data: { memory, number, readings: 300_000 } })),
    );
    for (const { falls, readings } of results as { falls: number; readings: number }[]) {
      expect({ falls, readings }).toEqual({ falls: 0, readings: 300_000 });
    }
  });
});

test('MonotonicClock counts ms from its origin, and does not fall', () => {
  const clock = new MonotonicClock(clockOrigin());
  let last = clock.now();
  expect(last).toBeGreaterThanOrEqual(0);
  for (let i = 0; i < 100_000; i++) {
    const now = clock.now();
    if (now < last) expect.fail(`${now} after ${last}`);
    last = now;
  }
  const later = { seconds: clockOrigin().seconds - 1000, nanoseconds: 999_999_999 };
  expect(new MonotonicClock(later).now()).toBeGreaterThan(998_000);
});
