import { describe, expect, test } from 'vitest';
import { UsageError } from '../../bench/replay/command-line.ts';
import { parsePlanOptions } from '../../tools/plan/plan-options.ts';

/** The bounds of each flag that takes a number, and whether it must be whole. */
const flags: Record<string, readonly [least: number, most: number, whole: boolean]> = {
  cps: [1, 100_000_000, false],
  loops: [1, 1024, true],
  cores: [1, 1024, true],
  memory: [1, 2 ** 24, false],
  work: [0, 1e6, false],
  rounds: [1, 99, true],
};

const parse = (flag: string, value: unknown) => parsePlanOptions([`--${flag}=${value}`]);

describe('plan takes numbers within the bounds of a flag, and refuses others with them', () => {
  test.each(Object.entries(flags))('--%s', (flag, [least, most, whole]) => {
    for (const value of [least, most]) expect(parse(flag, value)).toBeDefined();
    const refused = [least - 1, most + 1, most * 1e9, '1e999', 'NaN', 'many', '', ' ', ...(whole ? [1.5] : [])];
    for (const value of refused) {
      expect(() => parse(flag, value)).toThrow(UsageError);
      expect(() => parse(flag, value)).toThrow(`number from ${least} to ${most}.`);
    }
  });

  test('--lifetime and the numbers of --timer', () => {
    const timer = (text: string) => `timer=a=1s,${text}`;
    const kept = ['lifetime=0ms', 'lifetime=24h', timer('starts=0.001'), timer('starts=10000'), timer('moves=10000')];
    const refused = ['lifetime=-1ms', 'lifetime=25h', 'lifetime=86400001ms', 'timer=a=25h'];
    refused.push(...['starts=0', 'starts=10001', 'moves=-1', 'moves=10001', 'fires=-1', 'fires=101'].map(timer));
    for (const flag of kept) expect(parsePlanOptions([`--${flag}`])).toBeDefined();
    for (const flag of refused) expect(() => parsePlanOptions([`--${flag}`])).toThrow(UsageError);
  });
});
