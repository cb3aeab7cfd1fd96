import { afterAll, expect, test } from 'vitest';

// The subject `node:timers` is what is registered: the wheel, from the first timer on.
process.env.SHARDWHEEL_TIMERS = 'always';
const { register, registration, unregister } = await import('shardwheel/register');
register();
afterAll(unregister);

test('this thread is registered', () => {
  expect(registration()?.serving).toBe('wheel');
});

await import('./lists.ts');
await import('./order.long.test.ts');
