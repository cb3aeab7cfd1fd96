import { describe, expect, test } from 'vitest';
import { candidates, highestRate } from '../../tools/plan/arrangements.ts';
import { type Arrangement, simulate } from '../../tools/plan/simulation.ts';
import { modelCosts, proxyLoad, service } from './plan-costs.ts';

const inline = (cores: number, loops: number): Arrangement => ({ service: 'inline', cores, loops, shards: 0 });
const onShards = (cores: number, loops: number, shards: number): Arrangement => ({
  service: 'shard',
  cores,
  loops,
  shards,
});
/** Of a number. */
const percent = (value: number, share: number): [number, number] => [value * (1 - share), value * (1 + share)];

function expectWithin(value: number, [least, most]: readonly [number, number]): void {
  expect(value).toBeGreaterThan(least);
  expect(value).toBeLessThan(most);
}

describe('the simulation', () => {
  test.each([
    [inline(1, 1), 10_000],
    [inline(4, 4), 40_000],
    [onShards(2, 1, 1), 20_000],
    [onShards(64, 32, 4), 800_000],
  ])('comes to the CPU that connections and turns cost: %o', (arrangement, cps) => {
    const turn = { perConnection: 0.002, perTurn: 0.05 };
    const helpers = { perConnection: 0.0005, perTurn: 0 };
    const shard = { perConnection: 0.001, perTurn: 0.02 };
    const costs = modelCosts(0.02, {
      inline: service({ loop: turn, helpers }),
      shard: service({ loop: turn, helpers, shard }),
    });
    const { loopCpu, timersCpu, shardCpu, busyCores, behind } = simulate(proxyLoad(cps), costs, arrangement);
    const { loops, shards } = arrangement;
    const perLoop = cps / loops / 1000;
    expectWithin(loopCpu, percent(perLoop * 0.022 + 0.05, 0.05));
    expectWithin(timersCpu, percent(perLoop * 0.002 + 0.05, 0.1));
    if (shards > 0) expectWithin(shardCpu, percent((cps / 1000 / shards) * 0.001 + 0.02, 0.05));
    expectWithin(busyCores, percent(loops * (loopCpu + perLoop * 0.0005) + shards * shardCpu, 0.02));
    expect(behind).toBeLessThan(5);
  });

  test('holds what a loop has time for, and no more', () => {
    const costs = modelCosts(0.008);
    expectWithin(highestRate(proxyLoad(1), costs, inline(1, 1)), percent(100_000, 0.05));
    expectWithin(highestRate(proxyLoad(1), costs, inline(4, 4)), percent(400_000, 0.05));
    expect(simulate(proxyLoad(120_000), costs, inline(1, 1)).behind).toBeGreaterThan(30);
  });

  test('shares cores: two loops on one hold what one does, and a shard takes its part from them', () => {
    const costs = modelCosts(0.008);
    expectWithin(highestRate(proxyLoad(1), costs, inline(1, 2)), percent(100_000, 0.06));
    expectWithin(highestRate(proxyLoad(1), costs, onShards(1, 1, 1)), percent(1e6 / 11, 0.06));
    expectWithin(highestRate(proxyLoad(1), costs, onShards(2, 1, 1)), percent(100_000, 0.05));
  });

  test('adds to a measured lateness what is in the way: nothing where loop and core are free', () => {
    const lateness = [0.5, 1, 1.5];
    const costs = modelCosts(0.001, { inline: service({ lateness }), shard: service({ lateness }) });
    expect(simulate(proxyLoad(1000), costs, inline(1, 1)).lateness.p50).toBe(1);
    expect(simulate(proxyLoad(1000), costs, onShards(2, 1, 1)).lateness.p50).toBeCloseTo(1, 2);
    const busy = simulate(proxyLoad(85_000), modelCosts(0.01, { inline: service({ lateness }) }), inline(1, 1));
    expect(busy.lateness.p50).toBeGreaterThan(1.3);
    expect(busy.lateness.p99).toBeGreaterThan(2);
  });
});

describe('arrangements', () => {
  const request = { load: proxyLoad(50_000), loops: 2, cores: 4 };

  test("are Node's own timers, inline, and shards as long as one is busy", () => {
    const titles = (perConnection: number) => {
      const shard = service({ shard: { perConnection, perTurn: 0 } });
      return [...candidates(request, modelCosts(0.01, { shard }))].map(({ arrangement }) => arrangement.shards);
    };
    expect(titles(0.001)).toEqual([0, 0, 1]);
    expect(titles(0.018)).toEqual([0, 0, 1, 2, 4]);
  });

  test.each<[string, number, Parameters<typeof service>[0]]>([
    ['event loops', 4, { loop: { perConnection: 0.02, perTurn: 0 } }],
    ['shards', 4, { shard: { perConnection: 0.05, perTurn: 0 } }],
    ['cores', 1, { shard: { perConnection: 0.05, perTurn: 0 } }],
    ['memory', 4, { bytesPerTimer: 1e6 }],
  ])('are short of %s first', (resource, cores, own) => {
    const limited = { load: proxyLoad(10_000), loops: 1, cores, memory: 1e9 };
    const shards = [...candidates(limited, modelCosts(0.01, { shard: service(own) }))].find(
      ({ arrangement }) => arrangement.shards === 1,
    );
    expect(shards?.breaksAt).toBe(resource);
  });
});
