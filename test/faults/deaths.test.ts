import { describe, expect, test } from 'vitest';
import { SEED } from '../fixtures/draws.ts';
import { type FaultKind, points, recoveryPoints } from '../fixtures/fault.ts';
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
      expect(await survive(point, kind, 0)).toContainEqual(expect.stringContaining(cause));
    },
  );

  test.each(['draining', 'filing', 'firing'] as const)('in the middle of %s', async (point) => {
    expect(await survive(point, kind, 25)).toContainEqual(expect.stringContaining(cause));
  });
});
