import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { proxyTimers, timersSignature } from '../../tools/plan/planned-load.ts';
import { runCommand } from '../cli/run-command.ts';
import { modelCosts } from './plan-costs.ts';

const folder = mkdtempSync(join(tmpdir(), 'shardwheel-plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

const written = (name: string, value: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
};
const costs = written('costs.json', { ...modelCosts(0.008), timers: timersSignature(proxyTimers(8000)) });
const plan = (...argv: string[]) => runCommand(['plan', ...argv]);

test('npx shardwheel plan shows the arrangements, what is short first, and what to call', async () => {
  const json = join(folder, 'plan.json');
  const { code, stdout } = await plan('--cps', '50000', '--cores', '4', '--costs', costs, '--json', json);
  expect(code).toBe(0);
  expect(stdout).toContain('50,000 connections per second on 1 event loop: 457,280 timers live');
  expect(stdout).toContain('node:timers');
  expect(stdout).toContain('shardwheel, 1 shard');
  expect(stdout).toMatch(/each event loop busy +│ +(59|60|61)\.\d % │ +(49|50|51)\.\d % │ +(49|50|51)\.\d %/);
  expect(stdout).toContain('createScheduler({ shards: 0, capacity: 1_048_576 })');
  const { advice, candidates } = JSON.parse(readFileSync(json, 'utf8'));
  expect(advice.options).toEqual({ shards: 0, capacity: 2 ** 20 });
  expect(candidates.length).toBe(3);
});

test('says where costs were measured with many fewer or more timers', async () => {
  const { stdout } = await plan('--cps', '100', '--costs', costs);
  expect(stdout).toContain(
    '! The costs were measured with 1,000,000 live timers on an event loop, and here there are 915',
  );
});

test.each([
  ['costs of other timers', ['--lifetime', '3s', '--costs', costs], 'are for other timers'],
  ['a file that holds none', ['--costs', written('empty.json', {})], 'contains no costs'],
  ['a file that is not there', ['--costs', 'no-such-file.json'], 'cannot read the costs in no-such-file.json'],
  ['a file that is no JSON', ['--costs', 'lib/cli.js'], 'cannot read the costs'],
])('refuses %s', async (_, argv, says) => {
  const { code, stdout, stderr } = await plan(...argv);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error: [^\n]+\n$/);
  expect(stderr).toContain(says);
});
