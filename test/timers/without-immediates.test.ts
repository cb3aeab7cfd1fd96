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
