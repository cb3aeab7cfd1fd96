import { expect, test } from 'vitest';

/** What runs the tests; a runtime that had Node run them would pass them all. */
test('the tests are run by what is meant to run them', () => {
  const { bun, deno } = process.versions;
  const runtime = bun !== undefined ? 'bun' : deno !== undefined ? 'deno' : 'node';
  expect(runtime).toBe(process.env.SHARDWHEEL_RUNTIME ?? 'node');
});
