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
import { modelCosts, proxyLoad, service } from './plan-costs.ts';

const adviceFor = (request: PlanRequest, costs: Costs) => advise(request, costs, [...candidates(request, costs)]);

describe('the advice', () => {
  test("is Node's own timers where they cost next to nothing", () => {
    const { choice, options, sentences } = adviceFor({ load: proxyLoad(5000), loops: 1, cores: 2 }, modelCosts(0.05));
    expect([choice.arrangement.service, options]).toEqual(['native', undefined]);
    expect(sentences[0]).toMatch(
      /^You do not need shardwheel for this: Node's own timers take 2\.\d % of each event loop\./,
    );
  });

  test('is inline where there is room, as that takes the fewest cores', () => {
    const { options } = adviceFor({ load: proxyLoad(50_000), loops: 1, cores: 2 }, modelCosts(0.008));
    expect(options).toEqual({ shards: 0, capacity: 2 ** 18 });
  });

  test('is a shard where that makes room on the loop', () => {
    const costs = modelCosts(0.004, {
      inline: service({ loop: { perConnection: 0.006, perTurn: 0 } }),
      native: service({ loop: { perConnection: 0.016, perTurn: 0 } }),
    });
    const { options, sentences } = adviceFor({ load: proxyLoad(90_000), loops: 1, cores: 2 }, costs);
    expect(options?.shards).toBe(1);
    expect(sentences[0]).toMatch(/^Timers take 1\d % of each event loop, where Node's own take \d+ %/);
  });

  test('names what is short, and how many loops it wants, where there is no room', () => {
    const { sentences } = adviceFor({ load: proxyLoad(200_000), loops: 1, cores: 8 }, modelCosts(0.018));
    expect(sentences[0]).toMatch(/where the event loops are used up\.$/);
    expect(sentences[1]).toBe('It wants 6 event loops, for 70 % of each.');
  });

  test('keeps within the memory', () => {
    const request = { load: proxyLoad(50_000), loops: 1, cores: 2, memory: 5e6 };
    const { choice, sentences } = adviceFor(request, modelCosts(0.008));
    expect(choice.breaksAt).toBe('memory');
    expect(sentences[0]).toContain('where the memory is used up');
  });

  test('tells several loops to share, and of more threads than cores', () => {
    const costs = modelCosts(0.004, { inline: service({ loop: { perConnection: 0.05, perTurn: 0 } }) });
    const { sentences } = adviceFor({ load: proxyLoad(60_000), loops: 2, cores: 2 }, costs);
    expect(sentences.join('\n')).toContain('2 event loops and 1 shards are more than 2 cores');
    expect(sentences.join('\n')).toContain('share() it, and connectScheduler() in each');
  });
});

describe('a planned load', () => {
  const idle: PlannedTimer = { name: 'idle', delay: 60_000, starts: 1, moves: 3, held: 8000, fires: 0 };
  const wait: PlannedTimer = { name: 'wait', delay: 1000, starts: 2, moves: 0, held: 0, fires: 1 };

  test('has as many timers live as start in their lifetime', () => {
    expect(liveTimers({ cps: 100, timers: [idle] })).toBe(800);
    expect(liveTimers({ cps: 100, timers: [wait] })).toBe(200);
    expect(liveTimers({ cps: 100, timers: [idle, wait] })).toBe(1000);
  });

  test('counts starts, moves and cancellations, and what comes due apart', () => {
    expect(operationsPerConnection({ cps: 1, timers: [idle, wait] })).toBe(5 + 2);
    expect(firesPerConnection({ cps: 1, timers: [idle, wait] })).toBe(2);
  });

  test('is that of a proxy by default: four kinds, six starts, three moves, one that fires', () => {
    const timers = proxyTimers(8000);
    expect(timers.map(({ name }) => name)).toEqual(['connect', 'idle', 'request', 'time-wait']);
    expect(operationsPerConnection({ cps: 1, timers })).toBeCloseTo(6 + 3 + 5, 1);
    expect(firesPerConnection({ cps: 1, timers })).toBeCloseTo(1, 1);
  });
});
