import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { allocateDoorbell, Doorbell } from '../../src/lane/doorbell.ts';

const LIMIT = 1000;
const CHECK = LIMIT / 4;

/** A watchdog whose timers the test moves, and the words that it looks at, written as a shard would. */
async function watch(limit = LIMIT) {
  vi.resetModules();
  // The faked ones, under which it would find Node's.
  vi.doMock('../../src/time/native-timers.ts', () => ({ setInterval, clearInterval, setTimeout, clearTimeout }));
  vi.doMock('../../src/hosts/restart-policy.ts', () => ({ monotonic: { now: () => performance.now() } }));
  const { Watchdog } = await import('../../src/hosts/watchdog.ts');
  const doorbell = new Doorbell(allocateDoorbell());
  const silences: number[] = [];
  const clock = { tick: 0, slots: 0 };
  const dog = new Watchdog({
    doorbell,
    tick: () => clock.tick,
    slots: () => clock.slots,
    limit,
    hung: (silence) => silences.push(silence),
  });
  const turn = () => doorbell.beat(doorbell.rings());
  const checks = (count: number) => vi.advanceTimersByTime(count * CHECK);
  /** As a thread that starts, takes a turn and goes on. */
  const serve = () => {
    dog.watchStart();
    turn();
    dog.watchTurns();
  };
  return { dog, doorbell, clock, turn, checks, serve, silences };
}

async function watchServing() {
  const watched = await watch();
  watched.serve();
  return watched;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.resetModules(); // what has the faked ones is no other file's: the files of a process share their modules
});

describe('Watchdog', () => {
  test('a shard that is awake and takes no turn hangs at the fourth look, and is told of once', async () => {
    const { checks, silences } = await watchServing();
    checks(3);
    expect(silences).toEqual([]);
    checks(20);
    expect(silences).toEqual([LIMIT]);
  });

  test.each([Number.POSITIVE_INFINITY, 500])(
    'parked until %d, with every ring heard, it is left alone',
    async (wake) => {
      const { doorbell, turn, checks, silences } = await watchServing();
      doorbell.ring();
      turn();
      doorbell.announce(wake);
      const rings = doorbell.rings();
      checks(40);
      expect({ silences, rings: doorbell.rings() }).toEqual({ silences: [], rings });
    },
  );

  test.each(['the ring', 'the look that saw its last beat'])(
    'parked and rung, it owes a turn: %s first',
    async (first) => {
      const { doorbell, turn, checks, silences } = await watchServing();
      turn();
      doorbell.announce(Number.POSITIVE_INFINITY);
      if (first === 'the ring') doorbell.ring();
      checks(1);
      if (first !== 'the ring') doorbell.ring();
      checks(3);
      expect(silences).toEqual([]);
      checks(1);
      expect(silences).toEqual([LIMIT]);
    },
  );

  test('asleep past its tick it is rung at the first look, and not replaced if that wakes it', async () => {
    const { doorbell, clock, turn, checks, silences } = await watchServing();
    doorbell.announce(50);
    clock.tick = 50;
    checks(10);
    const rings = doorbell.rings();
    clock.tick = 51;
    checks(1);
    expect(doorbell.rings()).toBe(rings + 1);
    turn();
    doorbell.announce(100);
    checks(20);
    expect(silences).toEqual([]);
    clock.tick = 200;
    checks(4);
    expect(silences).toEqual([LIMIT]);
  });

  test('a thread that starts has four times as long; its successor, after an alarm, four times that', async () => {
    const { dog, checks, silences } = await watch();
    for (const [round, looks] of [16, 64].entries()) {
      dog.watchStart();
      checks(looks - 1);
      expect(silences.length).toBe(round);
      checks(1);
      expect(silences.length).toBe(round + 1);
      checks(50);
    }
    expect(silences).toEqual([4 * LIMIT, 16 * LIMIT]);
  });

  test('resting, or without a limit, it looks at nothing', async () => {
    const resting = await watch();
    resting.dog.watchStart();
    resting.dog.rest();
    resting.checks(100);
    const unlimited = await watch(Number.POSITIVE_INFINITY);
    unlimited.dog.watchStart();
    unlimited.checks(100);
    expect([resting.silences, unlimited.silences, vi.getTimerCount()]).toEqual([[], [], 0]);
  });

  test('with many slots in use the limit is longer: a microsecond for each', async () => {
    const { clock, checks, silences, serve } = await watch();
    clock.slots = 2_000_000;
    serve();
    checks(11);
    expect(silences).toEqual([]);
    checks(1);
    expect(silences).toEqual([LIMIT + 2000]);
  });

  test('after an alarm the limit is four times as long, up to ten seconds, until there was none for ten minutes', async () => {
    const { checks, silences, serve } = await watch();
    for (const calm of [0, 0, 0, 600_000]) {
      vi.advanceTimersByTime(calm);
      serve();
      checks(2000);
    }
    expect(silences).toEqual([LIMIT, 4 * LIMIT, 10_000, LIMIT]);
  });
});
