import { expect, test } from 'vitest';
import { REGISTER, runProgram } from './run-program.ts';

test("process.getActiveResourcesInfo lists the face's timeouts as Node's, and nothing of the scheduler's own", async () => {
  const right = (await runProgram('resources.cjs')) as Record<string, unknown>;
  expect(right).toMatchObject({
    none: 0,
    five: 5,
    'an interval': 6,
    'the unref one cleared, too': 4,
    'all cleared': 0,
  });
  expect(await runProgram('resources.cjs', { flags: REGISTER })).toEqual(right);
});
