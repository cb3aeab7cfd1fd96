import { inspect } from 'node:util';
import { clearTimeout, setTimeout } from 'shardwheel/timers';
import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

/** In a process of its own: an inspection that does not end would hold all that stands in this one. */
async function inspected(depth: string): Promise<string> {
  const { stdout, stderr } = await runText(`
    import { inspect } from 'node:util';
    import timers from 'shardwheel/timers';
    const connection = {};
    for (const name of ['read', 'write', 'idle']) connection[name] = timers.setTimeout(() => undefined, 60_000, connection, 7);
    console.log(inspect(connection, { depth: ${depth} }));
    process.exit();
  `);
  expect(stderr).toBe('');
  return stdout;
}

test('util.inspect shows what a Timeout is', async () => {
  const text = await inspected('2');
  for (const part of ['Timeout {', '_idleTimeout: 60000', '_onTimeout: [Function', '7', '_destroyed: false'])
    expect(text).toContain(part);
});

test('beyond the depth that is asked for it shows the name', async () => {
  expect(await inspected('0')).toBe('{ read: [Timeout], write: [Timeout], idle: [Timeout] }\n');
});

test.each(['2', '5', '100', 'null'])('it ends where objects refer to each other: depth %s', async (depth) => {
  const text = await inspected(depth);
  expect(text.length).toBeLessThan(5000);
  expect(text).toContain('[Circular *1]');
});

test('what two timeouts refer to is shown, once each', () => {
  const connection: { timeouts: NodeJS.Timeout[] } = { timeouts: [] };
  for (let i = 0; i < 2; i++) connection.timeouts.push(setTimeout((_) => undefined, 60_000, connection));
  expect(inspect(connection, { depth: 9 }).split('\n').length).toBeLessThan(40);
  for (const timeout of connection.timeouts) clearTimeout(timeout);
});
