import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { allocateDoorbell, Doorbell } from '../../src/lane/doorbell.ts';
import { type LoopParts, ShardLoop } from '../../src/shard/shard-loop.ts';

/** Thrown by the wait after the last. */
const ENOUGH = new Error('enough');

const { setImmediate: realSetImmediate } = globalThis;

/** Callbacks of immediates that have not come. */
let immediates: (() => void)[] = [];

beforeEach(() => {
  immediates = [];
  globalThis.setImmediate = ((callback: () => void) => immediates.push(callback)) as unknown as typeof setImmediate;
});

afterEach(() => {
  globalThis.setImmediate = realSetImmediate;
});

/** The loop of a shard that has an event every `period` ms, for so many waits; `during` is called in each. */
function play(period: number, waits: number, during: (wait: number, doorbell: Doorbell) => void = () => {}) {
  const memory = allocateDoorbell();
  const counts = { turns: 0, passes: 0, waits: 0 };
  let time = 0;
  class SilentDoorbell extends Doorbell {
    override wait(_rings: number, timeout: number): void {
      if (counts.waits === waits) throw ENOUGH;
      counts.waits += 1;
      time += timeout;
      during(counts.waits, this);
    }
  }
  const shard = {
    turn: () => {
      counts.turns += 1;
      return false;
    },
    nextEvent: () => time + period,
    hasNews: () => false,
  };
  const parts = {
    shard,
    doorbell: new SilentDoorbell(memory),
    clock: { memory: { manual: false }, read: () => time },
    scale: { timeOf: (tick: number) => tick },
  };
  new ShardLoop(parts as unknown as LoopParts).start();
  try {
    for (let next = immediates.shift(); next !== undefined; next = immediates.shift()) {
      counts.passes += 1;
      next();
    }
  } catch (error) {
    if (error !== ENOUGH) throw error;
  }
  return counts;
}

describe('ShardLoop', () => {
  test('takes a turn for each wake, and a pass of the event loop for each 17th of those that follow closely', () => {
    const { turns, passes, waits } = play(1, 170);
    expect(waits).toBe(170);
    expect(turns).toBe(1 + 170);
    expect(passes).toBe(2 + 10);
  });

  test('has the event loop pass after every long sleep', () => {
    expect(play(21, 100)).toEqual({ turns: 101, passes: 2 + 100, waits: 100 });
  });

  test('has the event loop pass as soon as it is rung: somebody may have posted something', () => {
    const { passes } = play(1, 100, (wait, doorbell) => {
      if (wait % 5 === 0) doorbell.ring();
    });
    expect(passes).toBe(2 + 20);
  });
});
