import { describe, expect, test } from 'vitest';
import { wordOf } from '../../src/lane/due-word.ts';
import { allocateLane, HIGH_WATER } from '../../src/lane/lane-memory.ts';
import { TableView } from '../../src/lane/table-view.ts';
import { TimerTable } from '../../src/lane/timer-table.ts';
import { TickScale } from '../../src/time/tick-scale.ts';
import { timerIdLayout } from '../../src/timer-id.ts';

/** A table with ticks of half a ms, seen from both sides. */
function sides(capacity = 8) {
  const memory = allocateLane(capacity, { commands: 1, fired: 1 });
  const table = new TimerTable(memory, timerIdLayout(1, capacity), 0);
  const view = new TableView(memory, new TickScale(0.5));
  const header = new Int32Array(memory.header);
  const show = () => {
    header[HIGH_WATER] = table.highWater;
  };
  return { memory, table, view, show };
}

describe('TableView', () => {
  test('sees what the client wrote', () => {
    const { table, view } = sides();
    const slot = table.allocate(12, 24);
    expect([view.dueOf(slot), view.tagOf(slot)]).toEqual([24, table.tagOf(slot)]);
    table.free(slot);
    expect(view.tagOf(slot)).toBe(table.tagOf(slot));
  });

  test('visits the live timers below the high water mark that was published', () => {
    const { table, view, show } = sides();
    const seen = () => {
      const slots: number[] = [];
      view.forEachLive((slot, tag) => {
        expect(tag).toBe(table.tagOf(slot));
        slots.push(slot);
      });
      return slots;
    };
    for (let i = 0; i < 5; i++) table.allocate(i, i);
    expect(seen()).toEqual([]);
    show();
    expect(seen()).toEqual([0, 1, 2, 3, 4]);
    table.free(3);
    table.free(0);
    table.allocate(9, 9);
    expect(seen()).toEqual([0, 1, 2, 4]);
    expect(view.highWater()).toBe(5);
  });

  test.each([
    { deadline: 100, due: 200, now: 0, tick: 200, why: 'a tick ahead' },
    { deadline: 100.1, due: 201, now: 500, tick: 201, why: 'a tick that has passed' },
    { deadline: 2 ** 39, due: 2 ** 40, now: 0, tick: 2 ** 40, why: 'far ahead: the deadline bears the word out' },
    { deadline: 2 ** 39, due: 2 ** 40, now: 2 ** 40 + 7, tick: 2 ** 40, why: 'the same when it has passed' },
    { deadline: 3, due: 41, now: 40, tick: 41, why: 'a deadline that had passed when it was set' },
    { deadline: 3, due: 41, now: 400, tick: 41, why: 'the same, seen later' },
    { deadline: 3, due: 41, now: 2 ** 32 - 9, tick: 41, why: 'the same, much later' },
    { deadline: 3, due: 41, now: 2 ** 32 + 50, tick: 41, why: 'the same, when words begin anew' },
    { deadline: 100.1, due: 201, now: 2 ** 33 + 500, tick: 201, why: 'a tick that has passed long ago' },
    { deadline: 50, due: 128, now: 2 ** 32 + 130, tick: 128, why: 'the same with slack' },
    { deadline: 50, due: 128, now: 20, tick: 128, why: 'slack' },
    { deadline: 50, due: 128, now: 110, tick: 128, why: 'slack, and the deadline has come' },
    { deadline: 50, due: 128, now: 200, tick: 128, why: 'slack, and the due tick has come' },
    { deadline: 2 ** 39 - 7, due: 2 ** 40, now: 5, tick: 2 ** 40, why: 'slack of what is far' },
    { deadline: 50, due: 80, now: 20, tick: 80, why: 'a move caught between its two words: the old due word' },
    { deadline: 2 ** 39 + 100, due: 80, now: 20, tick: 80, why: 'the same on its way to far' },
    { deadline: 2 ** 39, due: 80, now: 20, tick: 2 ** 40 + 80, why: 'the same, taken for slack: its command follows' },
    { deadline: 1e300, due: 80, now: 20, tick: 80, why: 'half a double, perhaps' },
    { deadline: Number.NaN, due: 80, now: 20, tick: 80, why: 'half a double, perhaps' },
  ])('deadline $deadline, due word of $due, at $now: tick $tick ($why)', ({ deadline, due, now, tick }) => {
    const { table, view } = sides();
    const slot = table.allocate(deadline, wordOf(due));
    expect(view.dueTickOf(slot, now)).toBe(tick);
  });

  test('finds the least due tick of those that are live', () => {
    const { table, view, show } = sides();
    show();
    expect(view.earliestDueTick(0)).toBe(Number.POSITIVE_INFINITY);
    for (const deadline of [7, 2.2, 2 ** 40, 3]) table.allocate(deadline, wordOf(Math.ceil(deadline * 2)));
    show();
    expect(view.earliestDueTick(0)).toBe(5);
    table.free(1);
    expect(view.earliestDueTick(0)).toBe(6);
    table.free(0);
    table.free(3);
    expect(view.earliestDueTick(0)).toBe(2 ** 41);
  });
});
