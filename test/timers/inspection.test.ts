import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

test('util.inspect shows what a Timeout is, to the depth that is asked for, each once, and ends', async () => {
  // In a process of its own: an inspection that does not end would hold all that stands in this one.
  const { stdout, stderr } = await runText(`
    import { inspect } from 'node:util';
    import timers from 'shardwheel/timers';
    const connection = {};
    for (const name of ['read', 'write', 'idle']) connection[name] = timers.setTimeout(() => undefined, 60_000, connection, 7);
    console.log(JSON.stringify([0, 2, 5, 100, null].map((depth) => inspect(connection, { depth }))));
    process.exit();`);
  expect(stderr).toBe('');
  const [names, ...texts]: string[] = JSON.parse(stdout);
  expect(names).toBe('{ read: [Timeout], write: [Timeout], idle: [Timeout] }');
  for (const part of ['Timeout {', '_idleTimeout: 60000', '_onTimeout: [Function', '7', '_destroyed: false'])
    expect(texts[0]).toContain(part);
  for (const text of texts) {
    expect(text).toContain('[Circular *1]');
    expect(text.split('\n').length).toBeLessThan(35);
  }
});
