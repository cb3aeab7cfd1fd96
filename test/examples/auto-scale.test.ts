import { createScheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { autoScale, factorFor } from '../../examples/auto-scale.ts';
import { until } from '../fixtures/event-loop.ts';

const pressure = (value: number) => ({ read: () => value, from: 0.5, to: 0.9 });

test.each([
  [[0], 1],
  [[0.5], 1],
  [[0.7], 0.5],
  [[0.9], 0],
  [[5], 0],
  [[0.1, 0.8, 0.6], 0.25],
])('pressures of %j ask for a factor of %d', (values, factor) => {
  expect(factorFor(values.map(pressure))).toBeCloseTo(factor, 12);
});

test('scales down at once, and up step by step', async () => {
  await using scheduler = createScheduler({ shards: 0, capacity: 64 });
  const idle = scheduler.label('idle', { min: 10 });
  let value = 0.9;
  const stop = autoScale(scheduler, 'idle', [{ read: () => value, from: 0.5, to: 0.9 }], 5);
  await until(() => idle.factor === 0);
  value = 0;
  const seen = new Set<number>();
  await until(() => {
    seen.add(idle.factor);
    return idle.factor === 1;
  });
  stop();
  expect(seen.size).toBeGreaterThan(3);
});
