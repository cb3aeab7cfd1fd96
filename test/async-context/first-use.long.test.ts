import { describe, expect, test } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';

const ways = ['in the callback', 'in a tick', 'in a microtask', 'in a reaction', 'after an await', 'and throws'];

const seenBy = async (face: string, how: string, flags: readonly string[]): Promise<Record<string, string[]>> => {
  const given = [...flags, 'test/async-context/programs/first-use.mjs', face, how];
  const { code, stdout, stderr } = await runNode(given, { env: { NODE_OPTIONS: '' } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

/** Where Node keeps contexts by frames, also as it did before. */
const modes = [[], ['--no-async-context-frame']].filter((flags) =>
  flags.every((flag) => process.allowedNodeEnvironmentFlags.has(flag)),
);

describe.each(modes.map((flags) => [flags.join(' ') || 'by default', flags] as const))('%s', (_, flags) => {
  // The program's first use of a storage turns Node's hooks on in the midst of a turn.
  test.each(ways)('a context that one callback enters %s is seen where Node lets it be seen', async (how) => {
    const nodes = await seenBy('node', how, flags);
    expect(nodes['a callback after']).toEqual(['undefined']);
    expect(Object.keys(nodes).length).toBeGreaterThanOrEqual(13);
    expect(await seenBy('drop-in', how, flags)).toEqual(nodes);
    // A scheduler's error is reported when the callback's scope has ended.
    const { 'its error': error, ...others } = nodes;
    const { 'its error': ours, ...ofScheduler } = await seenBy('scheduler', how, flags);
    expect(ofScheduler).toEqual(others);
    expect(ours === undefined).toBe(error === undefined);
  });
});
