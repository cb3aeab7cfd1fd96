import { expect, test } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';

/** What a face does in the corners that releases of Node have each their own way in. */
async function seenOn(face: string, flags: readonly string[], env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  const given = ['--no-warnings', ...flags, 'test/timers/programs/oddities.mjs', face];
  const { code, stdout, stderr } = await runNode(given, { env: { NODE_OPTIONS: '', ...env } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

const registered = ['--import', 'shardwheel/register'];

test.each([
  ['drop-in', [], ''],
  ['registered', registered, ''],
  ['registered', registered, 'always'],
])('refused handles, ended ones and domains are as in this Node: %s', async (face, flags, mode) => {
  const nodes = await seenOn('node', [], {});
  expect(Object.keys(nodes).length).toBe(3 * 14 + 2 * 6 * 6 + 5);
  expect(await seenOn(face, flags, { SHARDWHEEL_TIMERS: mode })).toEqual(nodes);
});
