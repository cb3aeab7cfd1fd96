import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type DurableTimers, memoryStore, openDurableTimers } from 'shardwheel/durable';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';
import { until } from '../fixtures/event-loop.ts';
import { root } from './documents.ts';
import { durableRecipes, writtenRecipes } from './written-recipes.ts';

const { folder, load } = writtenRecipes('durable-recipes', durableRecipes);
let durable: DurableTimers;

beforeEach(async () => {
  durable = await openDurableTimers({ store: memoryStore(), retry: { attempts: 2, delay: 5 } });
});
afterEach(() => durable.close());

test('docs/durable.md shows those that are tried below', () => {
  expect([...durableRecipes.keys()]).toEqual([
    'webhooks.ts',
    'long-work.ts',
    'failures.ts',
    'dead-letters.ts',
    'reminder.ts',
  ]);
});

test('each compiles, strictly', () => {
  const { stdout } = spawnSync('npx', ['tsc', '-p', folder], { cwd: root, encoding: 'utf8' });
  expect(stdout).toBe('');
}, 300_000);

test('webhooks.ts sends, tells the second attempt by its key, and gives up what is slow', async () => {
  const requests: unknown[] = [];
  const server = createServer((request, response) => {
    requests.push([request.url, request.headers['idempotency-key']]);
    if (request.url === '/silent') return;
    response.statusCode = request.url === '/refuses' ? 503 : 200;
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { sendWebhooks } = await load('webhooks');
  sendWebhooks(durable, 300);
  const reasons = new Map<string, string>();
  durable.on('dead', ({ key, reason }) => reasons.set(key, reason));
  for (const key of ['sent', 'refuses', 'silent']) {
    await durable.schedule('webhook', key, Date.now(), { url: `http://127.0.0.1:${port}/${key}`, body: '' });
  }
  await until(() => reasons.size === 2);
  expect(reasons.get('refuses')).toMatch(/^503 from http/);
  expect(reasons.get('silent')).toMatch('has not ended within its timeout');
  const expected = ['sent', 'refuses', 'refuses', 'silent', 'silent'].map((key) => [`/${key}`, key]);
  expect(requests.sort()).toEqual(expected.sort());
  server.closeAllConnections();
  server.close();
});

test('long-work.ts stops between two steps', async () => {
  const { copyFiles } = await load('long-work');
  const copied: string[] = [];
  copyFiles(durable, async (file: string) => {
    copied.push(file);
    if (file === 'second') await durable.cancel('copy', 'k');
  });
  await durable.schedule('copy', 'k', Date.now(), ['first', 'second', 'third']);
  await until(() => copied.length === 2);
  await durable.close();
  expect(copied).toEqual(['first', 'second']);
});

test('failures.ts tells each attempt, and the death', async () => {
  const { tellFailures } = await load('failures');
  const lines: string[] = [];
  tellFailures(durable, (line: string) => lines.push(line));
  durable.handle('a', () => Promise.reject(new Error('broken')));
  await durable.schedule('a', 'k', Date.now());
  await until(() => lines.length === 3);
  expect(lines[0]).toMatch(/^a k: attempt 1 has failed, again at 2\d{3}-[-\d:.TZ]*: Error: broken$/);
  expect(lines.slice(1)).toEqual(['a k: attempt 2 has failed, it was the last: Error: broken', 'a k is dead: broken']);
});

test('dead-letters.ts tries the dead once more', async () => {
  const { tryAgain } = await load('dead-letters');
  let isMended = false;
  const seen: unknown[] = [];
  durable.on('failed', () => undefined);
  durable.handle('a', (payload) => {
    if (!isMended) throw new Error('broken');
    seen.push(payload);
  });
  for (const key of ['k', 'l']) await durable.schedule('a', key, Date.now(), `of ${key}`);
  await until(async () => (await durable.stats()).died === 2);
  isMended = true;
  expect(await tryAgain(durable, 'a')).toBe(2);
  await until(() => seen.length === 2);
  expect(seen.sort()).toEqual(['of k', 'of l']);
  expect(await tryAgain(durable, 'a')).toBe(0);
});

test('reminder.ts passes, as a test of node:test', async () => {
  const { code, stdout } = await runNode([join(folder, 'reminder.mjs')]);
  expect({ code, passed: /^(?:# |ℹ )pass (\d+)$/m.exec(stdout)?.[1] }, stdout).toEqual({ code: 0, passed: '1' });
});
