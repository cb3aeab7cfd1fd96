import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proxyTimers, timersSignature } from '../../tools/plan/planned-load.ts';
import { runCommand } from '../cli/run-command.ts';
import { modelCosts } from './plan-costs.ts';

const plan = (...argv: string[]) => runCommand(['plan', ...argv]);

describe('npx shardwheel plan', () => {
  let folder: string;
  let costs: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'shardwheel-plan-'));
    costs = join(folder, 'costs.json');
    writeFileSync(costs, JSON.stringify({ ...modelCosts(0.008), timers: timersSignature(proxyTimers(8000)) }));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('shows the arrangements, what is short first, and what to call', async () => {
    const json = join(folder, 'plan.json');
    const { code, stdout } = await plan('--cps', '50000', '--cores', '4', '--costs', costs, '--json', json);
    expect(code).toBe(0);
    expect(stdout).toContain('50,000 connections per second on 1 event loop: 457,280 timers live');
    expect(stdout).toContain('node:timers');
    expect(stdout).toContain('shardwheel, 1 shard');
    expect(stdout).toMatch(/each event loop busy +│ +(59|60|61)\.\d % │ +(49|50|51)\.\d % │ +(49|50|51)\.\d %/);
    expect(stdout).toContain('createScheduler({ shards: 0, capacity: 1_048_576 })');
    const written = JSON.parse(readFileSync(json, 'utf8'));
    expect(written.advice.options).toEqual({ shards: 0, capacity: 2 ** 20 });
    expect(written.candidates.length).toBe(3);
  });

  test('measures the costs where none are given', { timeout: 400_000 }, async () => {
    const json = join(folder, 'measured.json');
    const { code, stdout } = await runCommand(['plan', '--cps', '100', '--json', json], { limit: 300_000 });
    expect(code).toBe(0);
    expect(stdout).toContain('costs measured with 800 live timers on one event loop');
    const { candidates } = JSON.parse(readFileSync(json, 'utf8')) as { candidates: { highest: number }[] };
    expect(candidates.length).toBe(3);
    for (const { highest } of candidates) expect(highest).toBeGreaterThan(100);
  });

  test('refuses costs of other timers, and what holds none', async () => {
    const other = await plan('--lifetime', '3s', '--costs', costs);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('are for other timers')]);
    const empty = join(folder, 'empty.json');
    writeFileSync(empty, '{}');
    expect((await plan('--costs', empty)).stderr).toContain('contains no costs');
  });

  test('says where costs were measured with many fewer or more timers', async () => {
    const { stdout } = await plan('--cps', '100', '--costs', costs);
    expect(stdout).toContain(
      '! The costs were measured with 1,000,000 live timers on an event loop, and here there are 915',
    );
  });
});
