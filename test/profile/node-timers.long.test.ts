import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

// The lists of tests for Node's timers, while they are profiled: nothing may be different.

process.env.SHARDWHEEL_PROFILE_DIR = mkdtempSync(join(tmpdir(), 'profile-'));
const { snapshot, stop } = await import(new URL('../../lib/profile.js', import.meta.url).href);
afterAll(() => {
  stop();
  rmSync(String(process.env.SHARDWHEEL_PROFILE_DIR), { recursive: true });
});

await import('../timers/lists.ts');
await import('../timers/order.long.test.ts');

test('the timers of this file were recorded', () => {
  expect(snapshot().totals.fired).toBeGreaterThan(1000);
});
