import assert from 'node:assert';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFace } from './probe.mjs';

test('timers are the face', () => {
  assert.ok(isFace(() => clearTimeout(setTimeout(() => undefined, 1))));
});

test('a test within its time limit', { timeout: 60_000 }, () => sleep(5));

test('a test that outlasts its time limit fails', async (context) => {
  const holding = setInterval(() => undefined, 1000); // the time limit itself does not hold the process
  await context.test('outlasting', { timeout: 20, todo: true }, () => new Promise(() => undefined));
  clearInterval(holding);
});
