import { createScheduler } from 'shardwheel';
import { useScheduler } from 'shardwheel/timers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { retry } from '../../../dist/examples/fake-time/retry.js';

let scheduler: ReturnType<typeof createScheduler>;
beforeEach(() => {
  scheduler = createScheduler({ shards: 0, clock: 'manual' });
  useScheduler(scheduler);
});
afterEach(async () => {
  useScheduler(); // back to real time
  expect(scheduler.size).toBe(0); // nothing was left waiting
  await scheduler.close();
});

/** Moves the time from timer to timer until none is left. */
async function runAll(): Promise<void> {
  await new Promise(setImmediate); // the code under test gets to its first pause
  for (;;) {
    const next = await scheduler.nextExpiration();
    if (next === undefined) return;
    await scheduler.advanceTo(next);
  }
}

test('tries again after 1 s, 2 s and 4 s', async () => {
  const call = vi.fn(async () => 'done');
  for (let i = 1; i <= 3; i++) call.mockRejectedValueOnce(new Error(`call ${i}`));
  const result = retry(call);
  for (const [time, expected] of [
    [999, 1],
    [1000, 2],
    [2999, 2],
    [3000, 3],
    [7000, 4],
  ]) {
    await scheduler.advanceTo(time);
    expect(call).toHaveBeenCalledTimes(expected);
  }
  expect(await result).toBe('done');
});

test('gives up after five calls: 15 s of pauses, in no time', async () => {
  const call = vi.fn(async () => {
    throw new Error('always');
  });
  const result = retry(call);
  result.catch(() => {}); // looked at below
  await runAll();
  await expect(result).rejects.toThrow('always');
  expect(scheduler.now()).toBe(15_000);
});
