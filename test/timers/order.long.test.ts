import { describe, expect, test } from 'vitest';
import { blockLoop } from '../fixtures/event-loop.ts';
import { subjects } from './subjects.ts';

/** Runs the program, and returns what it has noted when it says that it has ended. */
const run = (program: (note: (what: unknown) => void, end: () => void) => unknown): Promise<unknown[]> => {
  const notes: unknown[] = [];
  return new Promise((resolve) =>
    program(
      (what) => notes.push(what),
      () => resolve(notes),
    ),
  );
};

// The order of random programs is compared with Node's: see fuzz.long.test.ts. These are of many, and of a loop that is
// busy.
describe.each(subjects)('$name: order', ({ timers }) => {
  test('timers of equal delay fire in the order in which they were set', async () => {
    const order = await run((note, end) => {
      for (let i = 0; i < 2000; i++) timers.setTimeout(note, 5, i);
      timers.setTimeout(end, 5);
    });
    expect(order).toEqual(Array.from({ length: 2000 }, (_, i) => i));
  });

  test('what is set in a callback does not fire in the same turn, but after all others that are due', async () => {
    const order = await run((note, end) => {
      for (const name of ['one', 'two', 'three']) {
        timers.setTimeout(() => {
          note(name);
          timers.setTimeout(note, 0, `set by ${name}`);
          timers.setImmediate(note, `immediate of ${name}`);
          if (name === 'three') timers.setTimeout(() => timers.setTimeout(end, 1), 1);
          blockLoop(5);
        }, 5);
      }
      blockLoop(20);
    });
    expect(order.slice(0, 3)).toEqual(['one', 'two', 'three']);
    expect(order.filter((what) => `${what}`.startsWith('set'))).toEqual(['set by one', 'set by two', 'set by three']);
    const immediates = order.filter((what) => `${what}`.startsWith('imm'));
    expect(immediates).toEqual(['immediate of one', 'immediate of two', 'immediate of three']);
    expect(order.length).toBe(9);
  });

  test('what a callback sets fires after the immediates, though it is due when that returns', async () => {
    const order = await run((note, end) =>
      setImmediate(() => {
        timers.setTimeout(() => {
          timers.setTimeout(note, 1, 'timer');
          timers.setTimeout(end, 1);
          blockLoop(6);
        }, 1);
        setImmediate(note, 'immediate');
        blockLoop(3);
      }),
    );
    expect(order).toEqual(['immediate', 'timer']);
  });
});

// Node, which says nothing of the order among timers of several delays, does so most of the time.
test.each(subjects.slice(1))(
  '$name: what is due earlier fires first, though it was set while the loop was busy past its time',
  async ({ timers }) => {
    const dues: [string, number][] = [];
    const order = await run((note, end) => {
      const set = (delay: number, name: string) => {
        dues.push([name, performance.now() + delay]);
        timers.setTimeout(note, delay, name);
      };
      set(600, 'due last');
      timers.setTimeout(() => {
        set(20, 'due first');
        set(40, 'due second');
        for (let i = 0; i < 600; i++) timers.clearTimeout(timers.setTimeout(note, 60_000, 'never'));
        timers.setTimeout(end, 1000);
        blockLoop(650);
      }, 20);
    });
    // On a machine that had no processor for us, the last may be due before the others.
    expect(order).toEqual(dues.toSorted(([, one], [, other]) => one - other).map(([name]) => name));
  },
);
