import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

// The lists of tests for Node's timers, while they are profiled: nothing may be different.

process.env.SHARDWHEEL_PROFILE_DIR = temporaryFolder();
const { snapshot, stop } = await import(new URL('../../lib/profile.js', import.meta.url).href);
afterAll(stop);

await import('../timers/lists.ts');
await import('../timers/order.long.test.ts');

test('the timers of this file were recorded', () => {
  expect(snapshot().totals.fired).toBeGreaterThan(1000);
});
