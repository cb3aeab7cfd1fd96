import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proxyTimers, timersSignature } from '../../tools/plan/planned-load.ts';
import { runCommand } from '../cli/run-command.ts';
import { modelCosts } from './model-costs.ts';

const script = fileURLToPath(new URL('../../lib/cli.js', import.meta.url));

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

  test('--help names the flags, and how a timer is described', async () => {
    const { code, stdout } = await plan('--help');
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: npx shardwheel plan [options]');
    for (const flag of ['--cps', '--loops', '--cores', '--memory', '--timer', '--work', '--costs', '--json']) {
      expect(stdout).toContain(flag);
    }
    expect(stdout).toContain('name=delay[,held=time]');
  });

  test.each([
    [['--cps', '0'], '--cps'],
    [['--loops', '1.5'], '--loops'],
    [['--timer', 'idle'], 'a timer is name=delay'],
    [['--lifetime', '8'], 'a time must be a number with ms, s, m or h'],
    [['--costs', 'no-such-file.json'], 'cannot read the costs in no-such-file.json'],
    [['--costs', script], 'cannot read the costs'],
    [['what'], 'too many arguments'],
  ])('%j is refused in one line', async (argv, message) => {
    const { code, stderr, stdout } = await plan(...argv);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr).toContain(message);
  });

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
