import { expect, test } from 'vitest';
import { programs, REGISTER, runNode, runProgram } from './run-program.ts';

const onFace = { isFace: true, fired: 4 };
const onNodes = { isFace: false, fired: 4 };

const answers = {
  module: onFace,
  script: onFace,
  url: onFace,
  nested: onFace,
  'no flags': onNodes,
  'no flags, no environment': onNodes,
  fork: onFace,
  threads: 6,
};

test('workers have the face, unless they are started without the flag', async () => {
  expect(await runProgram('in-workers.mjs', { flags: REGISTER })).toEqual(answers);
});

test('as a variable of the environment it reaches workers without flags as well', async () => {
  const env = { NODE_OPTIONS: '--import shardwheel/register' };
  expect(await runProgram('in-workers.mjs', { env })).toEqual({ ...answers, 'no flags': onFace });
});

test.each(['none', 'execArgv', 'env'])("shards' threads keep Node's timers: told to register by %s", async (way) => {
  const given = [`${programs}/beside-shards.mjs`, way];
  const { code, stdout, stderr } = await runNode([...REGISTER, ...given], {
    NODE_OPTIONS: '--import shardwheel/register',
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => line.replace(/ \d$/, ''))).toEqual(way === 'none' ? ['main face'] : ['node', 'main face']);
});
