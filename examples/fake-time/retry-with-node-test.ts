import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createScheduler } from 'shardwheel';
import { useScheduler } from 'shardwheel/timers';
import { retry } from './retry.ts';

const scheduler = createScheduler({ shards: 0, clock: 'manual' });
before(() => useScheduler(scheduler));
after(() => scheduler.close());

test('tries again after 1 s, 2 s and 4 s', async () => {
  let calls = 0;
  const result = retry(async () => {
    calls += 1;
    if (calls < 4) throw new Error(`call ${calls}`);
    return 'done';
  });
  for (const [time, expected] of [
    [999, 1],
    [1000, 2],
    [2999, 2],
    [3000, 3],
    [7000, 4],
  ] as const) {
    await scheduler.advanceTo(time);
    assert.equal(calls, expected);
  }
  assert.equal(await result, 'done');
});
