import { expect, test } from 'vitest';
import { candidates, highestRate } from '../../tools/plan/arrangements.ts';
import { type Arrangement, simulate } from '../../tools/plan/simulation.ts';
import { loop, modelCosts, proxyLoad, service, shard } from './plan-costs.ts';

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

test('it adds to a measured lateness what is in the way: nothing where loop and core are free', () => {
  const lateness = [0.5, 1, 1.5];
  const costs = modelCosts(0.001, { inline: service({ lateness }), shard: service({ lateness }) });
  expect(simulate(proxyLoad(1000), costs, inline(1, 1)).lateness.p50).toBe(1);
  expect(simulate(proxyLoad(1000), costs, onShards(2, 1, 1)).lateness.p50).toBeCloseTo(1, 2);
  const busy = simulate(proxyLoad(85_000), modelCosts(0.01, { inline: service({ lateness }) }), inline(1, 1));
  expect(busy.lateness.p50).toBeGreaterThan(1.3);
  expect(busy.lateness.p99).toBeGreaterThan(2);
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
