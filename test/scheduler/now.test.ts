import { execFile } from 'node:child_process';
import { createScheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { blockLoop, until } from '../fixtures/event-loop.ts';

const hrtime = (): number => Number(process.hrtime.bigint()) / 1e6;

/** ms that now() may be off: two threads tell the one clock apart by less. What is asked for is 2 ms. */
const BOUND = 0.1;

// No time is asserted: each reading is held between two readings of the clock that all of them tell, however long they
// lie apart on a busy machine. A slot that another thread ought to have refreshed shows as a reading before both.
test.each([0, 1, 2])('now() is the time of its call, whoever has no processor: shards %i', async (shards) => {
  await using scheduler = createScheduler({ shards });
  await scheduler.ready;
  const busy = Array.from({ length: 4 }, () =>
    execFile(process.execPath, ['-e', 'for (const end = Date.now() + 20_000; Date.now() < end; );']),
  );
  try {
    let fired = 0;
    let latest = -1; // at most the moment that now() counts from
    let earliest = Number.POSITIVE_INFINITY; // at least
    const read = () => {
      const before = hrtime();
      const now = scheduler.now();
      const after = hrtime();
      latest = Math.max(latest, before - now);
      earliest = Math.min(earliest, after - now);
    };
    for (let round = 0; round < 300; round++) {
      for (let i = 0; i < 100; i++) {
        scheduler.scheduleAfter(i, i % 7, () => {
          fired += 1;
          read();
        });
        read();
      }
      if (round % 50 === 0) blockLoop(20);
      else await new Promise((resolve) => setImmediate(resolve));
      read();
    }
    await until(() => fired === 30_000);
    expect(latest - earliest).toBeLessThan(BOUND);
  } finally {
    for (const process of busy) process.kill();
  }
});
