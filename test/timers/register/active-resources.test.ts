import { expect, test } from 'vitest';
import { REGISTER, runProgram } from './run-program.ts';

test("process.getActiveResourcesInfo lists the face's timeouts as Node's, and nothing of the scheduler's own", async () => {
  const right = (await runProgram('resources.cjs')) as Record<string, [timeouts: number, immediates: number]>;
  const timeouts = Object.entries(right).map(([when, [count]]) => [when, count]);
  expect(Object.fromEntries(timeouts)).toMatchObject({
    none: 0,
    five: 5,
    'an interval': 6,
    'the unref one cleared, too': 4,
    'in a callback': 5,
    'in a callback, cleared': 4,
    'in call 2': 5,
    'in the last call': 4,
    'all cleared': 0,
  });
  for (const env of [{}, { SHARDWHEEL_TIMERS: '' }, { SHARDWHEEL_TIMERS: '', SHARDWHEEL_TIMERS_FROM: '2' }]) {
    expect(await runProgram('resources.cjs', { flags: REGISTER, env })).toEqual(right);
  }
});
