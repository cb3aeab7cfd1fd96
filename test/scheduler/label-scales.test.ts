import { createScheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { LabelScales, type SharedScales } from '../../src/client/labels/label-scales.ts';
import { LabelFactors } from '../../src/sharing/label-factors.ts';
import { internalsOf } from '../fixtures/internals.ts';

test('▲ of two clients that set a factor everywhere at once, the later setting counts for both', async () => {
  await using one = createScheduler({ shards: 0, clock: 'manual' });
  await using other = createScheduler({ shards: 0, clock: 'manual' });
  const words = new Int32Array(new SharedArrayBuffer(4 * LabelFactors.WORDS));
  const labels = [one, other].map((scheduler) => {
    scheduler.label('idle', { min: 0 });
    return internalsOf(scheduler).client.registry.named('idle', {});
  });
  const scales = [one, other].map((scheduler) => new LabelScales(internalsOf(scheduler).client));
  const between: (() => void)[] = [];
  for (const each of scales) {
    const shared: SharedScales = {
      factors: new LabelFactors(words),
      wakeOthers: () => between.shift()?.(), // where another thread may come in
      report: () => undefined,
      taken: async () => undefined,
    };
    each.join(shared);
  }
  const settings: Promise<void>[] = [];
  between.push(() => void settings.push(scales[1].setEverywhere(labels[1], 0.25)));
  settings.push(scales[0].setEverywhere(labels[0], 0.5));
  await Promise.all(settings);
  for (const each of scales) each.take();
  expect(labels.map(({ factor }) => factor)).toEqual([0.25, 0.25]);
});
