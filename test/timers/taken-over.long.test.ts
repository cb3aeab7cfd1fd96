import * as nodes from 'node:timers';
import { afterAll, expect, test } from 'vitest';

// The subject `node:timers` is what is registered, across the take-over: the wheel serves from the second live timer
// on. Between timers of both sides no order is defined.
process.env.SHARDWHEEL_TIMERS_FROM = '2';
const { register, registration, unregister } = await import('shardwheel/register');
register();
afterAll(unregister);
const seen = new Set<string>();
nodes.setInterval(() => seen.add(`${registration()?.serving}`), 1).unref();

await import('./lists.ts');

test('this thread is registered, and has been served by both', () => {
  expect([...seen].sort()).toEqual(['node', 'wheel']);
});
