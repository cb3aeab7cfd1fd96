import { describe, expect, test } from 'vitest';
import { advise } from '../../tools/plan/advice.ts';
import { candidates, type PlanRequest } from '../../tools/plan/arrangements.ts';
import type { Costs } from '../../tools/plan/costs.ts';
import {
  firesPerConnection,
  liveTimers,
  operationsPerConnection,
  type PlannedTimer,
  proxyTimers,
} from '../../tools/plan/planned-load.ts';
import { loop, modelCosts, proxyLoad, service } from './plan-costs.ts';

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

describe('a planned load', () => {
  const idle: PlannedTimer = { name: 'idle', delay: 60_000, starts: 1, moves: 3, held: 8000, fires: 0 };
  const wait: PlannedTimer = { name: 'wait', delay: 1000, starts: 2, moves: 0, held: 0, fires: 1 };

  test('has as many timers live as start in their lifetime; counts operations, and what comes due apart', () => {
    const live = [[idle], [wait], [idle, wait]].map((timers) => liveTimers({ cps: 100, timers }));
    expect(live).toEqual([800, 200, 1000]);
    const load = { cps: 1, timers: [idle, wait] };
    expect([operationsPerConnection(load), firesPerConnection(load)]).toEqual([5 + 2, 2]);
  });

  test('is that of a proxy by default: four kinds, six starts, three moves, one that fires', () => {
    const timers = proxyTimers(8000);
    expect(timers.map(({ name }) => name)).toEqual(['connect', 'idle', 'request', 'time-wait']);
    expect(operationsPerConnection({ cps: 1, timers })).toBeCloseTo(6 + 3 + 5, 1);
    expect(firesPerConnection({ cps: 1, timers })).toBeCloseTo(1, 1);
  });
});
