import { describe, expect, test } from 'vitest';
import { EventQueue } from '../../tools/plan/event-queue.ts';
import { Random } from '../../tools/plan/random.ts';
import { SimulatedCores, SimulatedThread } from '../../tools/plan/simulated-cores.ts';

function machineOf(cores: number) {
  const events = new EventQueue();
  const machine = new SimulatedCores(events, cores);
  /** Gives a new thread work, and says when it was begun and done. */
  const run = (cpu: number, thread = new SimulatedThread()) => {
    const times = { thread, begun: Number.NaN, done: Number.NaN };
    const onDone = () => {
      times.done = events.now;
    };
    machine.run(thread, cpu, onDone, () => {
      times.begun = events.now;
    });
    return times;
  };
  return { events, machine, run };
}

describe('simulated cores', () => {
  test('do the work of as many threads at once as they are', () => {
    const { events, run } = machineOf(2);
    const times = [run(5), run(7), run(1)];
    events.runUntil(100);
    // The third has had least when the first slices end.
    expect(times.map(({ begun }) => begun)).toEqual([0, 0, 3]);
    expect(times[2].done).toBe(4);
    expect(Math.max(...times.map(({ done }) => done))).toBeLessThanOrEqual(8);
    expect(times.map(({ thread }) => thread.used)).toEqual([5, 7, 1]);
  });

  test('share one core evenly, a slice at a time', () => {
    const { events, run } = machineOf(1);
    const [one, other] = [run(30), run(30)];
    events.runUntil(30);
    expect(Math.abs(one.thread.used - other.thread.used)).toBeLessThanOrEqual(3);
    expect(one.thread.used + other.thread.used).toBeGreaterThan(26); // what a slice in progress has had is not counted
    events.runUntil(60);
    expect([one, other].map(({ done }) => done).sort((a, b) => a - b)).toEqual([57, 60]);
  });

  test('go to one that wakes, from one that has had more', () => {
    const { events, run } = machineOf(1);
    const busy = run(20);
    events.runUntil(10.5);
    const woken = run(1);
    expect(woken.begun).toBe(10.5);
    events.runUntil(50);
    expect([woken.done, busy.done, busy.thread.waited]).toEqual([11.5, 21, 1]);
  });

  test('refuse work for a thread that has some', () => {
    const { run } = machineOf(1);
    const { thread } = run(3);
    expect(() => run(1, thread)).toThrow('the thread has work');
  });

  test.each([1, 2, 5])('on %i of them no core idles while a thread is ready, and none runs two', (cores) => {
    const random = new Random(97 + cores);
    const { events, machine } = machineOf(cores);
    const threads = Array.from({ length: 8 }, () => new SimulatedThread());
    let given = 0;
    let ended = 0;
    const next = (thread: SimulatedThread) => {
      if (events.now > 900) return;
      const cpu = 0.1 + random.next() * 5;
      given += cpu;
      machine.run(thread, cpu, () => {
        ended += cpu;
        if (cores === 5) events.at(events.now + random.next() * 3, () => next(thread));
        else next(thread); // more work than cores
      });
    };
    for (const thread of threads) next(thread);
    events.runUntil(900);
    const used = threads.reduce((sum, thread) => sum + thread.used, 0);
    expect(used).toBeLessThanOrEqual(cores * 900 + 1e-6);
    if (cores < 5) expect(used).toBeGreaterThan(cores * (900 - 3));
    const shares = threads.map((thread) => thread.used);
    if (cores < 5) expect(Math.max(...shares) - Math.min(...shares)).toBeLessThan(20);
    events.runUntil(2000);
    expect(ended).toBeCloseTo(given, 6);
  });
});
