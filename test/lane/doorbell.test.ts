import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { allocateDoorbell, ClientBell, Doorbell } from '../../src/lane/doorbell.ts';
import { pass, until } from '../fixtures/event-loop.ts';
import { runThreads } from './run-threads.ts';

const UNTIL_RUNG = Number.POSITIVE_INFINITY;

/** Whether a shard that announced this, or is awake again, would be rung for a timer due then. */
function isRung(wakeTick: number | 'awake', due: number): boolean {
  const memory = allocateDoorbell();
  const [shard, client] = [new Doorbell(memory), new Doorbell(memory)];
  const rings = shard.rings();
  shard.announce(wakeTick === 'awake' ? UNTIL_RUNG : wakeTick);
  if (wakeTick === 'awake') shard.awake();
  client.ringIfAsleepUntilAfter(due);
  return shard.rings() !== rings;
}

describe('Doorbell', () => {
  test.each<{ wakeTick: number | 'awake'; due: number; rung: boolean; why: string }>([
    { wakeTick: 'awake', due: 1, rung: false, why: 'nobody rings a shard that is awake' },
    { wakeTick: 100, due: 99, rung: true, why: 'it would sleep past it' },
    { wakeTick: 100, due: 100, rung: false, why: 'it wakes at that tick' },
    { wakeTick: 100, due: 101, rung: false, why: 'it wakes before' },
    { wakeTick: UNTIL_RUNG, due: 1, rung: true, why: 'it waits for nothing else' },
    { wakeTick: 2 ** 32 + 5, due: 2 ** 32 - 5, rung: true, why: 'due is earlier, across the wrap of words' },
    { wakeTick: 2 ** 32 - 5, due: 2 ** 32 + 5, rung: false, why: 'due is later, across the wrap of words' },
    { wakeTick: 2 ** 31 + 5, due: 2 ** 31 - 5, rung: true, why: 'due is earlier, across the sign' },
    { wakeTick: 2 ** 31 - 5, due: 2 ** 31 + 5, rung: false, why: 'due is later, across the sign' },
    { wakeTick: 2 ** 31 + 500, due: 499, rung: true, why: 'due is earlier by more than 2^31' },
    { wakeTick: 2 ** 32 + 500, due: 501, rung: true, why: 'due is earlier by nearly 2^32' },
    { wakeTick: 2 ** 53 - 1, due: 2 ** 32 + 1, rung: true, why: 'due is earlier by millions of wraps' },
    { wakeTick: 1, due: 2 ** 31 + 2, rung: false, why: 'due is later by more than 2^31' },
    { wakeTick: 1, due: 2 ** 53 - 1, rung: false, why: 'due is later by millions of wraps' },
  ])('parked until $wakeTick, a timer due $due rings: $rung ($why)', ({ wakeTick, due, rung }) => {
    expect(isRung(wakeTick, due)).toBe(rung);
  });

  test('a ring between the look at the bell and the wait ends the wait at once', () => {
    const doorbell = new Doorbell(allocateDoorbell());
    const rings = doorbell.rings();
    doorbell.ring();
    const started = performance.now();
    doorbell.wait(rings, 20_000);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('a wait ends by itself when its time is up, fractions of a ms included', () => {
    const doorbell = new Doorbell(allocateDoorbell());
    const started = performance.now();
    doorbell.wait(doorbell.rings(), 2.5);
    expect(performance.now() - started).toBeGreaterThan(2);
  });

  test('a ring wakes a thread that waits, each of 5,000 times', async () => {
    const rounds = 5000;
    const data = { bell: allocateDoorbell(), back: allocateDoorbell(), rounds };
    const results = await runThreads(
      { script: 'doorbell-ping', data: { ...data, first: true } },
      { script: 'doorbell-ping', data: { ...data, first: false } },
    );
    expect(results).toEqual([rounds, rounds]);
  });
});

describe('ClientBell', () => {
  /** What it has heard, from the first ring on; and the other end of it. */
  function listening() {
    const memory = ClientBell.allocate();
    const [shard, client] = [new ClientBell(memory), new ClientBell(memory)];
    const heard = vi.fn();
    return { shard, client, heard, times: (count: number) => until(() => heard.mock.calls.length === count) };
  }

  test('wakes once for all rings until the client lowers it', () => {
    const memory = ClientBell.allocate();
    const wake = vi.spyOn(Atomics, 'notify');
    onTestFinished(() => wake.mockRestore());
    const [one, other] = [new ClientBell(memory), new ClientBell(memory)];
    for (const bell of [one, other, one]) bell.ring();
    expect(wake).toHaveBeenCalledTimes(1);
    new ClientBell(memory).lower();
    other.ring();
    one.ring();
    expect(wake).toHaveBeenCalledTimes(2);
  });

  test('a client hears each ring that finds the bell down, and none after it has stopped listening', async () => {
    const { shard, client, heard, times } = listening();
    client.listen(heard);
    for (let round = 1; round <= 3; round++) {
      shard.ring();
      shard.ring();
      await times(round);
      client.lower();
    }
    client.stopListening();
    shard.ring();
    await pass(20); // long enough for a wake to arrive that is on its way
    expect(heard).toHaveBeenCalledTimes(3);
  });

  test('a ring before anybody listened is heard at once', () => {
    const { shard, client, heard } = listening();
    shard.ring();
    client.listen(heard);
    expect(heard).toHaveBeenCalledTimes(1); // no wait has begun, and no event loop has turned
  });

  test('a ring that comes while the one before is on its way is not lost', async () => {
    const { shard, client, heard, times } = listening();
    client.listen(heard);
    shard.ring();
    client.lower(); // by a turn of its own, before it has heard
    shard.ring();
    await times(1);
    client.lower();
    shard.ring();
    await times(2);
  });

  test('another thread rings a million times: the last is heard', async () => {
    const memory = ClientBell.allocate();
    const client = new ClientBell(memory);
    const count = new Int32Array(new SharedArrayBuffer(4));
    const ringer = new Worker(new URL('./threads/bell-ringer.mjs', import.meta.url), {
      workerData: { memory, count, rings: 1_000_000 },
    });
    await new Promise<void>((resolve) => {
      const turn = () => {
        client.lower();
        if (Atomics.load(count, 0) === 1_000_000) resolve();
      };
      client.listen(() => setImmediate(turn));
    });
    client.stopListening();
    await ringer.terminate();
  });
});
