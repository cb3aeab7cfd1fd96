import { placementOf } from '../../../src/client/placement.ts';
import { allocateLane } from '../../../src/lane/lane-memory.ts';
import { TimerTable } from '../../../src/lane/timer-table.ts';
import { decodeTimerId, encodeTimerId, timerIdLayout } from '../../../src/timer-id.ts';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import { xorshift } from '../../replay/xorshift.ts';
import { type Kernel, OPERATIONS, partSuite } from './part-suite.ts';

const CAPACITY = 2 ** 20;

function draws(range: number): Int32Array {
  let random = SEED;
  return new Int32Array(OPERATIONS).map(() => {
    random = xorshift(random);
    return scaled(random, scaleFor(range));
  });
}

/** Packing and unpacking a timer's shard, generation and slot. */
export const ids = partSuite({
  name: 'parts ids',
  title: 'Parts: a timer id, there and back',
  codes: ['ids'],
  about: 'Shard, generation and slot into one number and out of it, against a BigInt of the same layout.',
  base: 'BigInt',
  agrees: true,
  kernels: {
    BigInt: () => {
      const slots = draws(CAPACITY);
      return () => {
        let sum = 0;
        for (let i = 0; i < OPERATIONS; i++) {
          const id = (1n << 52n) | (BigInt(i) << 22n) | BigInt(slots[i]);
          sum += Number(id >> 52n) + Number((id >> 22n) & 0x3fffffffn) + Number(id & 0x3fffffn);
        }
        return sum;
      };
    },
    'timer id': () => {
      const slots = draws(CAPACITY);
      const layout = timerIdLayout(2, 2 ** 22);
      return () => {
        let sum = 0;
        for (let i = 0; i < OPERATIONS; i++) {
          const parts = decodeTimerId(encodeTimerId({ shard: 1, generation: i, slot: slots[i] }, layout), layout);
          sum += parts.shard + parts.generation + parts.slot;
        }
        return sum;
      };
    },
  },
});

/** From a connection's number or name to a shard. */
export const hash = partSuite({
  name: 'parts hash',
  title: 'Parts: placing a hint on a shard',
  codes: ['hash', 'placement'],
  about: 'Against the remainder of the number itself, which puts strided numbers all on one shard.',
  base: 'number % shards',
  agrees: false,
  kernels: {
    'number % shards': () => placing(draws(2 ** 31 - 1), (hint) => hint % 3),
    'placementOf(number)': () => placing(draws(2 ** 31 - 1), (hint) => placementOf(hint, 3)),
    'placementOf(string)': () => {
      const hints = [...draws(2 ** 31 - 1)].map((draw) => `tenant-${draw}`);
      return placing(hints, (hint) => placementOf(hint, 3));
    },
  },
});

function placing<H>(hints: ArrayLike<H>, place: (hint: H) => number): Kernel {
  return () => {
    let sum = 0;
    for (let i = 0; i < OPERATIONS; i++) sum += place(hints[i]) * (i + 1);
    return sum;
  };
}

/** Taking a timer by its id out of 100,000, and putting another in. */
export const table = partSuite({
  name: 'parts table',
  title: 'Parts: a table of timers by id',
  codes: ['table'],
  about: 'Of 100,000 timers, one is found by its id and ended, and another begun, against a Map of objects.',
  base: 'Map',
  agrees: false,
  kernels: {
    Map: () => {
      const timers = new Map<number, { deadline: number; due: number }>();
      let next = 0;
      return replacing({
        begin: (deadline) => {
          timers.set(next, { deadline, due: deadline });
          return next++;
        },
        end: (id) => timers.delete(id),
      });
    },
    TimerTable: () => {
      const timers = new TimerTable(allocateLane(CAPACITY), timerIdLayout(1, CAPACITY), 0, 0);
      return replacing({
        begin: (deadline) => timers.idOf(timers.allocate(deadline, deadline | 0)),
        end: (id) => {
          const slot = timers.slotOf(id);
          if (slot < 0) return false;
          timers.free(slot);
          return true;
        },
      });
    },
  },
});

interface Table {
  begin(deadline: number): number;
  end(id: number): boolean;
}

function replacing({ begin, end }: Table): Kernel {
  const kept = new Float64Array(100_000);
  for (let i = 0; i < kept.length; i++) kept[i] = begin(i + 0.5);
  const victims = draws(kept.length);
  return () => {
    let ended = 0;
    for (let i = 0; i < OPERATIONS; i++) {
      if (end(kept[victims[i]])) ended++;
      kept[victims[i]] = begin(i + 0.5);
    }
    return ended;
  };
}
