import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { presets } from '../../src/wheel/presets.ts';
import type { WheelConfig } from '../../src/wheel/wheel-config.ts';
import { ScriptRun } from './random-scripts.ts';
import { script } from './wheel-script.ts';

const small = (levelBits: number[], rest: Partial<WheelConfig> = {}): WheelConfig =>
  ({ engine: 'cascading', precision: 1, levelBits, ...rest }) as WheelConfig;

/** Name, configuration, start, the farthest a step goes. */
const worlds: [string, WheelConfig, number, number][] = [
  ['three tiny levels', small([2, 1, 2]), 0, 200],
  ['one level', small([3]), 0, 100],
  ['two levels, nothing beyond', small([3, 2], { overflow: 'throw' }), 0, 60],
  ["rounding to 'next', the past refused", small([3, 3], { rounding: 'next', past: 'throw', precision: 4 }), 1000, 400],
  ['a precision of 8 and a start', small([4, 4], { precision: 8 }), -12_345, 30_000],
  ['around 2^31', small([8, 8]), 2 ** 31 - 150, 2 ** 20],
  ['around 2^32', small([8, 8, 8, 8]), 2 ** 32 - 150, 2 ** 33],
  ['around 2^36, levels across bit 32', small([11, 10, 10, 10]), 2 ** 36 - 150, 2 ** 37],
  ['near 2^52', small([6, 6, 6, 6, 6]), 2 ** 52 - 150, 2 ** 34],
  ['default', presets.default, 0, 2 ** 33],
  ['janestreet', presets.janestreet, 0, 2 ** 34],
  ['ustack', presets.ustack, 0, 2 ** 24],
  ['twolevel', { ...presets.twolevel, precision: 16 } as WheelConfig, 0, 2 ** 24],
  ['blitz', presets.blitz, 0, 2 ** 31],
  [
    'pinned, tiny',
    {
      engine: 'pinned',
      levels: [
        { precision: 1, spokes: 4 },
        { precision: 4, spokes: 4 },
        { precision: 8, spokes: 8 },
      ],
    },
    0,
    60,
  ],
  [
    'pinned, compacting eagerly',
    {
      engine: 'pinned',
      levels: [
        { precision: 2, spokes: 16 },
        { precision: 32, spokes: 32 },
      ],
      compaction: { minCapacity: 1, ratio: 2, targetMultiplier: 1 },
    },
    50,
    900,
  ],
  [
    'pinned3',
    {
      ...presets.pinned3,
      levels: [
        { precision: 1, spokes: 1024 },
        { precision: 1024, spokes: 1024 },
        { precision: 65536, spokes: 1024 },
      ],
    } as WheelConfig,
    0,
    2 ** 25,
  ],
];
const slow = process.env.SHARDWHEEL_SLOW === '1';
let steps = 0;

describe('random scripts: a wheel does what the model does, and is whole after every step', () => {
  test.each(worlds)('%s', (_name, config, start, most) => {
    fc.assert(
      fc.property(script(most, 60), (operations) => {
        const run = new ScriptRun(config, start);
        run.run(operations);
        steps += run.steps;
      }),
      { numRuns: slow ? 20_000 : 150, interruptAfterTimeLimit: slow ? 20_000 : 1_500 },
    );
  });
  afterAll(() => expect(steps).toBeGreaterThan(1000));
});
