import { setTimeout as sleep } from 'node:timers/promises';
import { createScheduler, type ShardRestart } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { runModule } from '../fixtures/child-process.ts';
import { SEED } from '../fixtures/draws.ts';
import { blockLoop, pass, until } from '../fixtures/event-loop.ts';
import { Fault, points, recoveryPoints, withFaults } from '../fixtures/fault.ts';
import { Ledger } from '../fixtures/ledger.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { publish } from '../fixtures/shard-threads.ts';
import { Tally } from '../fixtures/tally.ts';
import { HANG_TIMEOUT, survive } from './survive.ts';

const silence = (milliseconds: number) =>
  `ShardHungError: The thread of shard 0 has shown no sign of life for ${milliseconds} ms ERR_SHARD_HUNG`;

/** Where a thread has not begun to turn, it is given four times as long. */
const starts: readonly string[] = ['booting', 'starting'];

describe('a thread that hangs is replaced', () => {
  test.concurrent.each([...points, ...recoveryPoints])(
    `%s: each timer ends once, the other shard goes on, seed ${SEED}`,
    async (point) => {
      const { causes, hangTimeout } = await survive(point, 'hang', 0);
      // A machine that is busy may have it start too slowly before it comes to its point.
      const limits = starts.includes(point) ? [4] : [4, 1];
      expect(limits.map((factor) => silence(factor * hangTimeout))).toEqual(expect.arrayContaining(causes.slice(0, 1)));
    },
  );

  test.each(['firing', 'parked'] as const)('spinning, %s', async (point) => {
    const { causes, hangTimeout } = await survive(point, 'spin', 3);
    expect(causes).toContain(silence(hangTimeout));
  });

  test('a call that waits for its answer gets it from the successor', async () => {
    const fault = new Fault('between draining and advancing', 'hang');
    await using scheduler = withFaults([fault], () =>
      createScheduler({ shards: 1, thread: { hangTimeout: HANG_TIMEOUT } }),
    );
    await scheduler.ready; // what is scheduled before may be filed inline, and the thread then has nothing to drain
    const id = scheduler.scheduleAfter('a', 1e6);
    publish(scheduler); // nobody needs it so soon, and the thread may be asleep already
    await until(() => fault.isReached);
    const [stats, next] = await Promise.all([scheduler.stats(), scheduler.nextExpiration()]);
    expect(stats.shards[0]).toMatchObject({ size: 1, inline: false });
    expect(stats.shards[0].restarts).toBeGreaterThan(0);
    expect(next).toBe(Math.ceil(scheduler.deadlineOf(id) as number));
  });
});

/**
 * A thread that gets no processor for all of the limit cannot be told from one that hangs. So where there was an alarm,
 * all of it is tried again with a longer limit. `attempt` returns the number of restarts.
 */
async function withoutAlarm(attempt: (hangTimeout: number) => Promise<number>): Promise<void> {
  for (const hangTimeout of [400, 2000, 10_000]) if ((await attempt(hangTimeout)) === 0) return;
  expect.fail('a false alarm, however long the limit');
}

describe('no false alarm', () => {
  test('parked, with nothing to do, for many times the limit, and after it; nobody wakes it meanwhile', () =>
    withoutAlarm(async (hangTimeout) => {
      await using scheduler = createScheduler({ shards: 2, thread: { hangTimeout } });
      const restarts: ShardRestart[] = [];
      scheduler.on('shard-restart', (restart) => restarts.push(restart));
      scheduler.scheduleAfter('a', 1e6);
      await scheduler.ready;
      const turns = async () => (await scheduler.stats()).shards.map((shard) => shard.turns);
      const before = await turns();
      await pass(6 * hangTimeout);
      const after = await turns();
      // The calls themselves, and an event of the wheel or two; a watchdog that rang at each of its looks would add 24.
      for (const [shard, count] of after.entries()) {
        if (restarts.length === 0) expect(count - before[shard]).toBeLessThan(12);
      }
      const tally = Tally.of(scheduler, 100, () => 10);
      await until(() => tally.total === 100);
      return restarts.length;
    }));

  test('parked on a manual clock that stands still', () =>
    withoutAlarm(async (hangTimeout) => {
      await using scheduler = await readyScheduler({ shards: 1, clock: 'manual', thread: { hangTimeout } });
      scheduler.schedule('a', 50);
      expect(await scheduler.advanceTo(20)).toBe(0);
      await pass(5 * hangTimeout);
      expect(await scheduler.advanceTo(50)).toBe(1);
      return (await scheduler.stats()).shards[0].restarts;
    }));

  test('the event loop is blocked for many times the limit, again and again', () =>
    withoutAlarm(async (hangTimeout) => {
      await using scheduler = await readyScheduler({ shards: 2, thread: { hangTimeout } });
      const tally = Tally.of(scheduler, 3000, (i) => i);
      for (let i = 0; i < 3; i++) {
        blockLoop(2.25 * hangTimeout);
        await pass(5);
      }
      await until(() => scheduler.size === 0);
      tally.expectEachOnce();
      return (await scheduler.stats()).shards.reduce((sum, { restarts }) => sum + restarts, 0);
    }));

  test('a thread that gets no processor for a second, at every point of a turn: late, once, and not replaced', async () => {
    const stops = points.filter((point) => point !== 'booting');
    await Promise.all(
      stops.map(async (point) => {
        const fault = new Fault(point, 'stand', { passes: point === 'starting' ? 0 : 2 });
        await using scheduler = withFaults([fault], () =>
          createScheduler({ shards: 1, thread: { hangTimeout: 30_000 } }),
        );
        const ledger = new Ledger(scheduler);
        const scheduleRound = () => {
          for (let i = 0; i < 20; i++) ledger.schedule(i % 10);
        };
        await until(() => {
          scheduleRound();
          return fault.isReached;
        });
        await sleep(1000);
        scheduleRound();
        fault.release();
        await until(() => scheduler.size === 0);
        await pass(10);
        ledger.expectEachOnce();
        expect((await scheduler.stats()).shards[0].restarts).toBe(0);
      }),
    );
  });

  test('the machine stops for many times the limit, and goes on', () =>
    withoutAlarm(async (hangTimeout) => {
      const { code, stdout, stderr } = await runModule(
        `import { spawn } from 'node:child_process';
       const scheduler = createScheduler({ shards, thread: { hangTimeout: ${hangTimeout} } });
       await scheduler.ready;
       let fired = 0;
       let restarts = 0;
       scheduler.on('shard-restart', () => { restarts += 1; });
       for (let i = 0; i < 500; i++) scheduler.scheduleAfter(i, i * 4, () => { fired += 1; });
       // Somebody else has to wake this process up again.
       spawn('sh', ['-c', 'for i in 1 2; do sleep 0.2; kill -STOP ' + process.pid + '; sleep ${hangTimeout / 250}; kill -CONT ' + process.pid + '; done']);
       process.on('exit', () => console.log(JSON.stringify({ fired, restarts })));`,
        2,
      );
      const { fired, restarts } = JSON.parse(stdout);
      expect({ code, stderr, fired }).toEqual({ code: 0, stderr: '', fired: 500 });
      return restarts;
    }));
});
