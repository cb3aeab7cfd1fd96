import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';
import { Fault, type FaultKind, points, recoveryPoints, withFaults } from '../fixtures/fault.ts';
import { survive } from './survive.ts';

/** How a thread can end, and what 'shard-restart' then says of it. */
const deaths: { name: string; kind: FaultKind; cause: string }[] = [
  { name: 'an uncaught exception', kind: 'throw', cause: 'TypeError: a shard has tripped' },
  { name: 'process.exit in the thread', kind: 'exit', cause: 'Error: The thread of shard 0 exited with code 7' },
  { name: 'out of memory', kind: 'memory', cause: 'ERR_WORKER_OUT_OF_MEMORY' },
  { name: 'termination', kind: 'stand', cause: 'Error: The thread of shard 0 exited with code 1' },
];

describe.each(deaths)('a thread ends by $name', ({ kind, cause }) => {
  test.each([...points, ...recoveryPoints])(
    `%s: each timer ends once, the other shard goes on, seed ${SEED}`,
    async (point) => {
      expect((await survive(point, kind, 0)).causes).toContainEqual(expect.stringContaining(cause));
    },
  );

  test.each(['draining', 'filing', 'firing'] as const)('in the middle of %s', async (point) => {
    expect((await survive(point, kind, 25)).causes).toContainEqual(expect.stringContaining(cause));
  });
});

test.each(['throw', 'exit', 'memory'] as const)(
  "a thread that dies by '%s' when it has raised the client's bell and not woken it: the client looks all the same",
  async (kind) => {
    const fault = new Fault('between raising and waking', kind);
    const resourceLimits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 8 };
    await using scheduler = withFaults([fault], () => createScheduler({ shards: 1, thread: { resourceLimits } }));
    await scheduler.ready;
    let fired = 0;
    scheduler.scheduleAfter('the only timer', 20, () => {
      fired += 1;
    });
    await until(() => fired === 1); // and nothing else that would have the client look
    expect(fault.isReached).toBe(true);
  },
);
