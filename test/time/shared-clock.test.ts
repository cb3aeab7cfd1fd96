import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { clockOrigin, MonotonicClock } from '../../src/time/monotonic-clock.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { runThreads } from '../lane/run-threads.ts';
import { tapAtomics, visiting } from '../shard/shared-access.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Has this thread's source of time run ahead by so many ms more. */
function shift(clock: SharedClock, milliseconds: number): void {
  Object.assign(clock, { offset: Reflect.get(clock, 'offset') + milliseconds });
}

describe('SharedClock', () => {
  test('a manual clock stands where it was set, for everybody, and never goes back', () => {
    const memory = SharedClock.allocate(true);
    const [one, other] = [new SharedClock(memory), new SharedClock(memory)];
    expect(one.now()).toBe(0);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.double({ noNaN: true })), { maxLength: 50, size: 'max' }),
        (moves) => {
          for (const [first, time] of moves) {
            const before = other.read();
            (first ? one : other).set(time);
            const expected = Math.max(before, time);
            for (const clock of [one, other]) {
              expect([clock.now(), clock.read(), clock.publish()]).toEqual(Array(3).fill(expected));
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
          const memory = SharedClock.allocate(true);
          const [one, other] = [new SharedClock(memory), new SharedClock(memory)];
          let access = 0;
          const visit = () => {
            access += 1;
            if (access === stop) other.set(between);
          };
          visiting(visit, () => one.set(100));
          expect(access).toBeGreaterThanOrEqual(stop);
          expect(one.read()).toBe(Math.max(100, between));
        }
      }
    } finally {
      release();
    }
  });

  test('keeps every double as it is', () => {
    for (const time of [Number.MIN_VALUE, 0.1, 1 / 3, 2 ** 31 + 0.25, 2 ** 53, Number.MAX_VALUE]) {
      const clock = new SharedClock(SharedClock.allocate(true));
      clock.set(time);
      expect(clock.now()).toBe(time);
    }
  });

  test('a running clock is right at the moment of each call, whatever any shard has last published', () => {
    const memory = SharedClock.allocate(false);
    const [clock, shard] = [new SharedClock(memory), new SharedClock(memory)];
    const source = new MonotonicClock(memory.origin);
    for (let i = 0; i < 1000; i++) {
      if (i % 3 === 0) shard.publish();
      const before = source.now();
      const now = clock.now();
      const after = source.now();
      expect(now).toBeGreaterThanOrEqual(before - 0.01); // the two have measured their offsets apart
      expect(now).toBeLessThanOrEqual(after + 0.01);
    }
  });

  test('does not fall where one thread has measured its clock to run ahead of another', () => {
    const memory = SharedClock.allocate(false);
    const [ahead, behind] = [new SharedClock(memory), new SharedClock(memory)];
    shift(ahead, 50);
    const raised = ahead.publish();
    expect(behind.now()).toBe(raised);
  });

  test('does not fall where the source of time does, published or not', () => {
    const clock = new SharedClock(SharedClock.allocate(false));
    const told = clock.now();
    shift(clock, -1000);
    expect(clock.now()).toBe(told);
    shift(clock, 1000);
    expect(clock.now()).toBeGreaterThanOrEqual(told);
  });

  test('goes on where a test fakes the timers of its thread', () => {
    const clock = new SharedClock(SharedClock.allocate(false));
    vi.useFakeTimers();
    const before = clock.now();
    for (let i = 0; i < 1e6 && clock.now() === before; i++);
    expect(clock.now()).toBeGreaterThan(before);
  });

  test('never falls, with three threads that write and all that read', async () => {
    const memory = SharedClock.allocate(false);
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
