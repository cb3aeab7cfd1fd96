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

describe.each(subjects)('$name: order', ({ timers }) => {
  test('timers of equal delay fire in the order in which they were set', async () => {
    const order = await run((note, end) => {
      for (let i = 0; i < 2000; i++) timers.setTimeout(note, 5, i);
      timers.setTimeout(end, 5);
    });
    expect(order).toEqual(Array.from({ length: 2000 }, (_, i) => i));
  });

  test('the kinds of delay that are 1 ms are one delay', async () => {
    const delays = [1, 0, undefined, 1.9, -7, Number.NaN, '1', 'x', null];
    const order = await run((note, end) => {
      for (const [i, delay] of delays.entries()) timers.setTimeout(note, delay as never, i);
      timers.setTimeout(end, 1);
    });
    expect(order).toEqual(delays.map((_, i) => i));
  });

  test('a shorter delay fires first, though it was set later', async () => {
    const order = await run((note, end) => {
      timers.setTimeout(note, 500, 'long');
      timers.setTimeout(note, 1, 'short');
      timers.setTimeout(end, 501);
    });
    expect(order).toEqual(['short', 'long']);
  });

  test('between two callbacks all ticks and microtasks run, those they make included', async () => {
    const order = await run((note, end) => {
      for (const name of ['one', 'two']) {
        timers.setTimeout(() => {
          note(name);
          void Promise.resolve().then(() => {
            note(`${name}, microtask`);
            process.nextTick(() => note(`${name}, tick of a microtask`));
            queueMicrotask(() => note(`${name}, microtask of a microtask`));
          });
          process.nextTick(() => {
            note(`${name}, tick`);
            process.nextTick(() => note(`${name}, tick of a tick`));
          });
        }, 5);
      }
      timers.setTimeout(end, 5);
    });
    const each = [
      '',
      ', tick',
      ', tick of a tick',
      ', microtask',
      ', microtask of a microtask',
      ', tick of a microtask',
    ];
    expect(order).toEqual(['one', 'two'].flatMap((name) => each.map((what) => name + what)));
  });

  test('what an earlier callback of the same batch clears does not fire', async () => {
    const order = await run((note, end) => {
      const clearing = () => {
        note('first');
        timers.clearTimeout(second);
        timers.clearTimeout(`${fourth}`);
        process.nextTick(() => timers.clearTimeout(fifth));
      };
      timers.setTimeout(clearing, 5);
      const second = timers.setTimeout(note, 5, 'second');
      timers.setTimeout(note, 5, 'third');
      const fourth = timers.setTimeout(note, 5, 'fourth');
      const fifth = timers.setTimeout(note, 5, 'fifth');
      timers.setTimeout(end, 5);
      blockLoop(20);
    });
    expect(order).toEqual(['first', 'third']);
  });

  test('what an earlier callback of the same batch refreshes fires later, once', async () => {
    const order = await run((note, end) => {
      timers.setTimeout(() => {
        note('first');
        second.refresh();
        timers.setTimeout(end, 5);
      }, 5);
      const second = timers.setTimeout(note, 5, 'second');
      timers.setTimeout(note, 5, 'third');
      blockLoop(20);
    });
    expect(order).toEqual(['first', 'third', 'second']);
  });

  test('what is refreshed stands where it would if it were set then', async () => {
    const order = await run((note, end) => {
      const moved = [0, 1, 2].map((i) => timers.setTimeout(note, 5, `moved ${i}`));
      timers.setTimeout(note, 5, 'kept');
      for (const timeout of moved.reverse()) timeout.refresh();
      timers.setTimeout(end, 5);
    });
    expect(order).toEqual(['kept', 'moved 2', 'moved 1', 'moved 0']);
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
