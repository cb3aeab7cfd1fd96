import { describe, expect, test } from 'vitest';
import { MonotoneQueue } from '../../src/extras/wheels/monotone-queue.ts';

describe('MonotoneQueue', () => {
  test('what may be added lies between the allowed keys, which rise', () => {
    const queue = new MonotoneQueue<string>([3, 2]);
    expect([queue.minAllowedKey, queue.maxAllowedKey, queue.size]).toEqual([0, 31, 0]);
    expect([queue.minKey(), queue.minElement()]).toEqual([undefined, undefined]);
    const a = queue.add(31, 'a');
    expect([a.key, a.value, queue.has(a)]).toEqual([31, 'a', true]);
    for (const bad of [-1, 32, 1.5, Number.NaN])
      expect(() => queue.add(bad, '')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_DEADLINE' }));
    queue.add(4, 'b');
    expect([queue.minKey(), queue.minElement()?.value]).toEqual([4, 'b']);
    const removed: string[] = [];
    queue.increaseMinAllowedKey(5, ({ value }) => removed.push(value));
    expect([removed, queue.minAllowedKey, queue.minKey()]).toEqual([['b'], 5, 31]);
    expect(() => queue.add(4, '')).toThrow('from 5');
    queue.increaseMinAllowedKey(2, () => expect.unreachable());
    expect(queue.minAllowedKey).toBe(5);
    expect(() => queue.increaseMinAllowedKey(queue.maxRepresentableKey + 1, () => {})).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_DEADLINE' }),
    );
  });

  test('deviation: removing an element twice is detected, always', () => {
    const queue = new MonotoneQueue<number>();
    const a = queue.add(7, 1);
    expect([queue.remove(a), queue.remove(a), queue.has(a)]).toEqual([true, false, false]);
    queue.add(7, 2);
    expect([queue.remove(a), queue.size, [...queue].length]).toEqual([false, 1, 1]);
    queue.clear();
    expect([queue.size, [...queue]]).toEqual([0, []]);
  });

  test('a call that throws changes nothing', () => {
    const queue = new MonotoneQueue<number>();
    queue.add(4, 1);
    expect(() => queue.increaseMinAllowedKey(9, undefined as never)).toThrow('onRemoved must be a function');
    expect([queue.size, queue.minKey(), queue.minAllowedKey]).toEqual([1, 4, 0]);
    const index = Reflect.get(queue, 'index') as { insert: unknown };
    const { insert } = index;
    index.insert = () => {
      throw new Error('refused');
    };
    expect(() => queue.add(5, 2)).toThrow('refused');
    index.insert = insert;
    expect([queue.size, [...queue].length]).toEqual([1, 1]);
    queue.add(6, 3);
    expect([queue.size, [...queue].map(({ value }) => value)]).toEqual([2, [1, 3]]);
  });

  test('keys up to the largest representable', () => {
    const queue = new MonotoneQueue<number>();
    const last = queue.maxRepresentableKey;
    queue.increaseMinAllowedKey(last - 1, () => {});
    expect(queue.maxAllowedKey).toBe(last);
    queue.add(last, 1);
    queue.add(last - 1, 2);
    const removed: number[] = [];
    queue.increaseMinAllowedKey(last, ({ key }) => removed.push(key));
    expect([removed, queue.size]).toEqual([[last - 1], 1]);
  });
});
