import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { UsageError } from '../../bench/replay/command-line.ts';
import { advise } from '../../tools/plan/advice.ts';
import { candidates, highestRate, type PlanRequest } from '../../tools/plan/arrangements.ts';
import type { Costs, Service, ServiceCosts } from '../../tools/plan/costs.ts';
import { type PlannedLoad, proxyTimers, timersSignature } from '../../tools/plan/planned-load.ts';
import { readCosts, remarkOnLive } from '../../tools/plan/saved-costs.ts';
import { type Arrangement, simulate } from '../../tools/plan/simulation.ts';
import { runCommand } from '../cli/run-command.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const none = { perConnection: 0, perTurn: 0 };

const service = (own: Partial<ServiceCosts>): ServiceCosts => ({
  loop: none,
  shard: none,
  helpers: none,
  pauses: { perConnection: 0, lengths: [] },
  lateness: [1],
  bytesPerTimer: 50,
  bytesAtRest: 1_000_000,
  ...own,
});

const loop = (perConnection: number, perTurn = 0) => ({ loop: { perConnection, perTurn } });
const shard = (perConnection: number, perTurn = 0) => ({ shard: { perConnection, perTurn } });

const proxyLoad = (cps: number): PlannedLoad => ({ cps, timers: proxyTimers(1000) });

/**
 * Costs of round numbers: a connection's timers take 4, 2 and 2 µs of the loop, and 1 µs of a shard.
 * `work`: ms per connection.
 */
const modelCosts = (work: number, services: Partial<Record<Service, ServiceCosts>> = {}): Costs => ({
  machine: { node: 'v20.0.0', cores: 2, model: 'model CPU' },
  work,
  isWorkMeasured: false,
  live: 1_000_000,
  timers: timersSignature(proxyLoad(1).timers),
  services: {
    native: service({ ...loop(0.004), bytesPerTimer: 300, bytesAtRest: 0 }),
    inline: service(loop(0.002)),
    shard: service({ ...loop(0.002), ...shard(0.001), bytesAtRest: 20_000_000 }),
    ...services,
  },
});

const inline = (cores: number, loops: number): Arrangement => ({ service: 'inline', cores, loops, shards: 0 });
const onShards = (cores: number, loops: number, shards: number): Arrangement => ({
  ...inline(cores, loops),
  service: 'shard',
  shards,
});

function expectWithin(value: number, expected: number, share: number): void {
  expect(value).toBeGreaterThan(expected * (1 - share));
  expect(value).toBeLessThan(expected * (1 + share));
}

test.each([
  [inline(1, 1), 10_000],
  [inline(4, 4), 40_000],
  [onShards(2, 1, 1), 20_000],
  [onShards(64, 32, 4), 800_000],
])('the simulation comes to the CPU that connections and turns cost: %o', (arrangement, cps) => {
  const own = { ...loop(0.002, 0.05), helpers: { perConnection: 0.0005, perTurn: 0 } };
  const costs = modelCosts(0.02, { inline: service(own), shard: service({ ...own, ...shard(0.001, 0.02) }) });
  const { loopCpu, timersCpu, shardCpu, busyCores, behind } = simulate(proxyLoad(cps), costs, arrangement);
  const { loops, shards } = arrangement;
  const perLoop = cps / loops / 1000;
  expectWithin(loopCpu, perLoop * 0.022 + 0.05, 0.05);
  expectWithin(timersCpu, perLoop * 0.002 + 0.05, 0.1);
  if (shards > 0) expectWithin(shardCpu, (cps / 1000 / shards) * 0.001 + 0.02, 0.05);
  expectWithin(busyCores, loops * (loopCpu + perLoop * 0.0005) + shards * shardCpu, 0.02);
  expect(behind).toBeLessThan(5);
});

test('it holds what a loop has time for, and no more; two loops on one core hold what one does, a shard takes its part', () => {
  const costs = modelCosts(0.008);
  for (const [arrangement, rate] of [
    [inline(1, 1), 100_000],
    [inline(4, 4), 400_000],
    [inline(1, 2), 100_000],
    [onShards(1, 1, 1), 1e6 / 11],
    [onShards(2, 1, 1), 100_000],
  ] as const) {
    const { cores, loops, shards } = arrangement;
    expectWithin(highestRate(proxyLoad(1), costs, arrangement), rate, loops + shards > cores ? 0.06 : 0.05);
  }
  expect(simulate(proxyLoad(120_000), costs, inline(1, 1)).behind).toBeGreaterThan(30);
});

test('where a connection was measured to take no time, it ends, and says a number', () => {
  const rate = highestRate(proxyLoad(1), modelCosts(0, { inline: service(loop(0)) }), inline(1, 1));
  expect(rate).toBeGreaterThan(100_000);
  expect(rate).toBeLessThan(2_000_000);
});

test('it adds to a measured lateness what is in the way: nothing where loop and core are free', () => {
  const lateness = [0.5, 1, 1.5];
  const costs = modelCosts(0.001, { inline: service({ lateness }), shard: service({ lateness }) });
  expect(simulate(proxyLoad(1000), costs, inline(1, 1)).lateness.p50).toBe(1);
  expect(simulate(proxyLoad(1000), costs, onShards(2, 1, 1)).lateness.p50).toBeCloseTo(1, 2);
  const busy = simulate(proxyLoad(85_000), modelCosts(0.01, { inline: service({ lateness }) }), inline(1, 1));
  expect(busy.lateness.p50).toBeGreaterThan(1.3);
  expect(busy.lateness.p99).toBeGreaterThan(2);
});

test('what comes due takes no more memory at the highest rate that the command takes', async () => {
  const load = { cps: 100_000_000, timers: proxyTimers(8000) };
  const costs = { ...modelCosts(0.001), timers: timersSignature(load.timers) };
  const file = join(folder, 'costs-of-many.json');
  writeFileSync(file, JSON.stringify(costs));
  const argv = ['plan', `--cps=${load.cps}`, '--loops=2', '--cores=4', '--costs', file];
  const ended = await runCommand(argv, { env: { NODE_OPTIONS: '--max-old-space-size=512' }, limit: 90_000 });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('100,000,000') });
});

test.each([inline(4, 4), onShards(4, 2, 1)])('nor is it later for that: %o', (arrangement) => {
  const lateness = [0.5, 1, 1.5];
  const own = { lateness, ...loop(1e-7), ...shard(1e-8) };
  const costs = modelCosts(1e-7, { inline: service({ ...own, shard: none }), shard: service(own) });
  const at = (cps: number) => simulate(proxyLoad(cps), costs, arrangement, 300).lateness;
  const [few, many] = [at(100_000), at(20_000_000)];
  expect(many.p50).toBeCloseTo(few.p50, 1);
  expect(many.p99).toBeCloseTo(few.p99, 1);
});

test("arrangements are Node's own timers, inline, and shards as long as one is busy", () => {
  const request = { load: proxyLoad(50_000), loops: 2, cores: 4 };
  const shardsAt = (perConnection: number) =>
    [...candidates(request, modelCosts(0.01, { shard: service(shard(perConnection)) }))].map(
      ({ arrangement }) => arrangement.shards,
    );
  expect(shardsAt(0.001)).toEqual([0, 0, 1]);
  expect(shardsAt(0.018)).toEqual([0, 0, 1, 2, 4]);
});

test.each<[string, number, Parameters<typeof service>[0]]>([
  ['event loops', 4, loop(0.02)],
  ['shards', 4, shard(0.05)],
  ['cores', 1, shard(0.05)],
  ['memory', 4, { bytesPerTimer: 1e6 }],
])('arrangements are short of %s first', (resource, cores, own) => {
  const limited = { load: proxyLoad(10_000), loops: 1, cores, memory: 1e9 };
  const all = [...candidates(limited, modelCosts(0.01, { shard: service(own) }))];
  expect(all.find(({ arrangement }) => arrangement.shards === 1)?.breaksAt).toBe(resource);
});

interface Case extends Partial<PlanRequest> {
  readonly advice: string;
  readonly cps: number;
  readonly costs: Costs;
  /** What is expected: without shards, Node's own timers. */
  readonly shards?: number;
  readonly breaksAt?: string;
  readonly says?: RegExp;
}

test.each<Case>([
  {
    advice: "Node's own timers where they cost next to nothing",
    cps: 5000,
    costs: modelCosts(0.05),
    says: /^You do not need shardwheel for this: Node's own timers take 2\.\d % of each event loop\./,
  },
  { advice: 'inline where there is room: it takes the fewest cores', cps: 50_000, costs: modelCosts(0.008), shards: 0 },
  {
    advice: 'a shard where that makes room on the loop',
    cps: 90_000,
    costs: modelCosts(0.004, { inline: service(loop(0.006)), native: service(loop(0.016)) }),
    shards: 1,
    says: /^Timers take 1\d % of each event loop, where Node's own take \d+ %/,
  },
  {
    advice: 'more loops where there is no room',
    ...{ cps: 200_000, cores: 8, costs: modelCosts(0.018), shards: 0, breaksAt: 'event loops' },
    says: /where the event loops are used up\.\nIt wants 6 event loops, for 70 % of each\.$/,
  },
  {
    advice: 'what the memory holds',
    ...{ cps: 50_000, memory: 5e6, costs: modelCosts(0.008), shards: 0, breaksAt: 'memory' },
    says: /where the memory is used up/,
  },
  {
    advice: 'to share where there are several loops',
    ...{ cps: 60_000, loops: 2, costs: modelCosts(0.004, { inline: service(loop(0.05)) }), shards: 1 },
    says: /2 event loops and 1 shards are more than 2 cores[\s\S]*share\(\) it, and connectScheduler\(\) in each/,
  },
])('the advice is $advice', ({ cps, loops = 1, cores = 2, memory, costs, shards, breaksAt, says }) => {
  const request = { load: proxyLoad(cps), loops, cores, memory };
  const { choice, options, sentences } = advise(request, costs, [...candidates(request, costs)]);
  expect(options?.shards).toBe(shards);
  if (breaksAt !== undefined) expect(choice.breaksAt).toBe(breaksAt);
  if (says !== undefined) expect(sentences.join('\n')).toMatch(says);
});

const folder = temporaryFolder();

const written = (name: string, value: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
};
const costs = written('costs.json', { ...modelCosts(0.008), timers: timersSignature(proxyTimers(8000)) });

test('npx shardwheel plan shows the arrangements, what is short first, and what to call', async () => {
  const json = join(folder, 'plan.json');
  const argv = ['plan', '--cps', '50000', '--cores', '4', '--costs', costs, '--json', json];
  const { code, stdout } = await runCommand(argv);
  expect(code).toBe(0);
  expect(stdout).toContain('50,000 connections per second on 1 event loop: 457,280 timers live');
  expect(stdout).toContain('699,245 operations and 50,755 that fire in each second');
  expect(stdout).toContain('node:timers');
  expect(stdout).toContain('shardwheel, 1 shard');
  expect(stdout).toMatch(/each event loop busy +│ +(59|60|61)\.\d % │ +(49|50|51)\.\d % │ +(49|50|51)\.\d %/);
  expect(stdout).toContain('createScheduler({ shards: 0, capacity: 1_048_576 })');
  const { advice, candidates } = JSON.parse(readFileSync(json, 'utf8'));
  expect(advice.options).toEqual({ shards: 0, capacity: 2 ** 20 });
  expect(candidates.length).toBe(3);
});

test('says where costs were measured with many fewer or more timers', () => {
  const { timers } = proxyLoad(1);
  expect(remarkOnLive(modelCosts(0.008), { cps: 800_000, timers }, 1)).toBe(undefined);
  expect(remarkOnLive(modelCosts(0.008), { cps: 1000, timers }, 1)).toMatch(
    /^The costs were measured with 1,000,000 live timers on an event loop, and here there are [\d,]+: with more of them/,
  );
});

test.each([
  ['costs of other timers', costs, 'are for other timers'],
  ['a file that holds none', written('empty.json', {}), 'contains no costs'],
  ['a file that is not there', 'no-such-file.json', 'cannot read the costs in no-such-file.json'],
  ['a file that is no JSON', fileURLToPath(import.meta.url), 'cannot read the costs in'],
])('refuses %s', (_, file, says) => {
  expect(() => readCosts(file, { cps: 1, timers: proxyTimers(3000) })).toThrow(UsageError);
  expect(() => readCosts(file, { cps: 1, timers: proxyTimers(3000) })).toThrow(says);
});
