import { existsSync } from 'node:fs';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { allocateLane, commandCounters, firedCounters, type LaneMemory } from '../../src/lane/lane-memory.ts';
import { Draws } from '../fixtures/draws.ts';
import { LiveLane } from './live-lane.ts';
import { runThreads } from './run-threads.ts';

vi.setConfig({ testTimeout: 120_000 }); // threads that spin get slow where others want the processors

beforeAll(() => {
  const built = new URL('../../dist/src/lane/ring.js', import.meta.url);
  if (!existsSync(built)) throw new Error('these threads run the built package: npm run build');
});

/** Has the counters of both rings begin at a number other than 0. */
function startCountersAt(memory: LaneMemory, start: number): void {
  const header = new Int32Array(memory.header);
  for (const { words, tail, head } of [commandCounters(header), firedCounters(header)]) {
    words[tail] = start | 0;
    words[head] = start | 0;
  }
}

describe('rings between two threads, both directions at once: no record is lost, doubled, torn or out of order', () => {
  test.each([
    { size: 1, records: 10_000, start: 0 },
    { size: 2, records: 40_000, start: 2 ** 31 - 20_000 },
    { size: 16, records: 400_000, start: 2 ** 32 - 200_000 },
    { size: 1024, records: 3_000_000, start: 2 ** 31 - 1_500_000 },
    { size: 65_536, records: 4_000_000, start: 2 ** 32 - 2_000_000 },
  ])('$records records through rings of $size, counters from $start', async ({ size, records, start }) => {
    const memory = allocateLane(1, { commands: size, fired: size });
    startCountersAt(memory, start);
    // Twice the ring and more, so that the client cannot come round to a word that the shard still has to look at.
    const beside = new SharedArrayBuffer(4 * 4 * (size + 1024));
    const data = { memory, beside, records, canary: 0x5ca1ab1e };
    const results = await runThreads({ script: 'ring-client', data }, { script: 'ring-shard', data });
    expect(results).toEqual([
      { sent: records, received: records, faults: [] },
      { received: records, faults: [] },
    ]);
  });
});

test("the timer table between two threads: while a tag matches, the due word read before it is that timer's", async () => {
  const timers = 1_000_000;
  const memory = allocateLane(16, { commands: 64, fired: 1 });
  const data = { memory, timers, factor: 0x9e3779b1, stop: new SharedArrayBuffer(4) };
  const [client, reader] = (await runThreads({ script: 'table-client', data }, { script: 'table-reader', data })) as [
    { started: number; size: number; live: number },
    { named: number; matched: number; stale: number; faults: [] },
  ];
  expect(client.started).toBe(timers);
  expect(client.size).toBe(client.live);
  expect(reader.faults).toEqual([]);
  expect(reader.named).toBe(timers);
  expect(reader.matched).toBeGreaterThan(timers / 100);
  expect(reader.stale).toBeGreaterThan(timers / 100);
});

interface Timer {
  id: number;
  deadline: number;
  outcome: 'live' | 'cancelled' | 'delivered';
}

describe('a lane between two threads', () => {
  test.each([
    { ring: 1, capacity: 8, deliveries: 1000, crashes: 0 },
    { ring: 2, capacity: 64, deliveries: 4000, crashes: 8 },
    { ring: 256, capacity: 4096, deliveries: 100_000, crashes: 8 },
    { ring: 65_536, capacity: 65_536, deliveries: 200_000, crashes: 8 },
  ])(
    '$deliveries deliveries from $capacity slots, rings of $ring, $crashes crashes: each timer ends once, none early',
    async ({ ring, capacity, deliveries, crashes }) => {
      const live = new LiveLane(capacity, { commands: ring, fired: ring }, 0.25);
      const { lane, clock } = live;
      const draws = new Draws(ring);
      const timers: Timer[] = [];
      const faults: string[] = [];
      const counts = { scheduled: 0, cancelled: 0, moved: 0, delivered: 0 };
      const delivered = (argument: unknown, id: number): void => {
        const timer = argument as Timer;
        if (timer.outcome !== 'live' || timer.id !== id) faults.push(`${id} delivered, was ${timer.outcome}`);
        if (clock.read() < timer.deadline) faults.push(`${id} early by ${timer.deadline - clock.read()} ms`);
        timer.outcome = 'delivered';
        counts.delivered += 1;
      };
      const operate = (): void => {
        const known = timers.length > 0 ? draws.below(timers.length) : -1;
        const timer = timers[known];
        const slot = timer === undefined ? -1 : lane.table.slotOf(timer.id);
        if (timer !== undefined && (timer.outcome === 'live') !== slot >= 0)
          faults.push(`${timer.id}: ${timer.outcome}`);
        if (slot < 0 || draws.below(4) === 0) {
          const fresh: Timer = { id: -1, deadline: clock.read() + draws.below(64) / 8, outcome: 'live' };
          const taken = live.schedule(fresh.deadline, delivered, fresh);
          if (taken < 0) return;
          fresh.id = lane.table.idOf(taken);
          counts.scheduled += 1;
          timers[slot < 0 && known >= 0 ? known : timers.length] = fresh;
        } else if (draws.below(2) === 0) {
          lane.end(slot);
          timer.outcome = 'cancelled';
          counts.cancelled += 1;
        } else {
          timer.deadline = clock.read() + draws.below(64) / 8;
          live.move(slot, timer.deadline);
          counts.moved += 1;
        }
      };
      live.start(false);
      let crashed = 0;
      while (counts.delivered < deliveries) {
        live.turn();
        for (let left = 1 + draws.below(Math.min(capacity / 4, 2000)); left > 0; left--) operate();
        lane.commands.publish();
        if (crashed < crashes && counts.delivered > ((crashed + 1) * deliveries) / (crashes + 1)) {
          crashed += 1;
          await live.replace();
        }
        await nextLoop();
      }
      const patience = clock.read() + 10_000;
      while (lane.table.size > 0 && clock.read() < patience) {
        live.turn();
        await nextLoop();
      }
      await live.kill();
      expect(faults).toEqual([]);
      expect(lane.table.size).toBe(0);
      expect(counts.delivered + counts.cancelled).toBe(counts.scheduled);
      expect(Math.min(counts.cancelled, counts.moved)).toBeGreaterThan(deliveries / 100);
      expect(crashed).toBe(crashes);
    },
  );

  test('no wake-up is lost: 2,000 times a timer, its news, and nothing else that would wake anybody', async () => {
    const rounds = 2000;
    // Rings so large that one command does not fill half of them, which would ring whatever the shard is doing.
    const live = new LiveLane(1, { commands: 4, fired: 4 }, 0.05);
    live.start(false);
    for (let round = 0; round < rounds; round++) {
      await new Promise<void>((resolve, reject) => {
        const patience = setTimeout(() => reject(new Error(`round ${round} waits for ever`)), 5000);
        live.onNews = () => {
          if (live.turn()) live.onNews();
        };
        const deadline = live.clock.publish() + (round % 8) / 16;
        const delivered = (): void => {
          clearTimeout(patience);
          resolve();
        };
        live.schedule(deadline, delivered, undefined);
        live.lane.commands.publish();
      });
    }
    await live.kill();
    expect(live.delivery.delivered).toBe(rounds);
  });
});
