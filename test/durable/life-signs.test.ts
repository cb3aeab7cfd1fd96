import { expect, test } from 'vitest';
import { LifeSigns } from '../../src/extras/durable/table/life-signs.ts';

test('a silence is the time of looking without a change, whatever this process has slept through', () => {
  let now = 5000;
  const signs = new LifeSigns(() => now);
  const after = (ms: number, text: string): [silence: number, hasBeaten: boolean] => {
    now += ms;
    const { silence, hasBeaten } = signs.look('one', text);
    return [silence, hasBeaten];
  };
  expect(after(0, '1')).toEqual([0, false]);
  expect(after(300, '1')).toEqual([300, false]);
  expect(after(400, '1')).toEqual([700, false]);
  expect(after(60_000, '1')).toEqual([1700, false]);
  expect(after(10, '2')).toEqual([0, true]);
  expect(after(10, '2')).toEqual([10, true]);
  signs.forget('one');
  expect(after(500, '2')).toEqual([0, false]);
});
