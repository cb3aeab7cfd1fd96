import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

test('timers go on where immediates come no more, as after clearImmediate of a timeout on Node 20 and 22', async () => {
  const { code, stdout } = await runText(`
    import nodes from 'node:timers';
    import timers from 'shardwheel/timers';
    await new Promise((resolve) => timers.setTimeout(resolve, 5));
    nodes.clearImmediate(nodes.setTimeout(() => undefined, 1));
    let calls = 0;
    const next = () => {
      calls += 1;
      if (calls < 20) timers.setTimeout(next, 2);
      else console.log('all have come');
    };
    timers.setTimeout(next, 2);
  `);
  expect([code, stdout]).toEqual([0, 'all have come\n']);
});

test.each([
  ['shardwheel/timers', [], {}],
  ['node:timers', ['--import', 'shardwheel/register'], {}],
  ['node:timers', ['--import', 'shardwheel/register'], { SHARDWHEEL_TIMERS: 'always' }],
])('clearImmediate of a timeout harms neither timers nor immediates: %s %s %o', async (module, flags, env) => {
  const text = `import { clearImmediate, setImmediate, setTimeout } from '${module}';
    clearImmediate(setTimeout(() => undefined, 1));
    setTimeout(() => setImmediate(() => setTimeout(console.log, 1, 'all have come')), 1);`;
  expect(await runText(text, flags, env)).toEqual({ code: 0, stdout: 'all have come\n', stderr: '' });
});
