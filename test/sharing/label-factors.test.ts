import { describe, expect, test } from 'vitest';
import { LabelFactors, MAX_SCALED } from '../../src/sharing/label-factors.ts';

const memory = (): Int32Array => new Int32Array(new SharedArrayBuffer(4 * LabelFactors.WORDS));

describe('factors of labels', () => {
  test('are found by name, by everybody who has the memory, to the bit', () => {
    const words = memory();
    const [one, other] = [new LabelFactors(words), new LabelFactors(words)];
    const names = ['idle', 'idle ', 'Idle', '\0', '\u{1F600}', '\uD800', 'x'.repeat(128), 'x'.repeat(127)];
    for (const [i, name] of names.entries()) {
      expect(other.read(name)).toBeUndefined();
      expect(one.set(name, 1 / (i + 3))).toBe(true);
    }
    for (const [i, name] of names.entries()) expect(other.read(name)?.factor).toBe(1 / (i + 3));
    expect(other.changes).toBe(names.length);
    expect(other.read('i')).toBeUndefined();
  });

  test('have another stamp each time they are set, also to the same value', () => {
    const factors = new LabelFactors(memory());
    const stamps = new Set<number>();
    for (let i = 0; i < 100; i++) {
      for (const name of ['a', 'b', 'c']) {
        factors.set(name, 0.5);
        stamps.add(factors.read(name)?.stamp as number);
      }
    }
    expect(stamps.size).toBe(300);
    expect(factors.changes).toBe(300);
  });

  test(`there is room for ${MAX_SCALED} names; those that are there can still be set`, () => {
    const factors = new LabelFactors(memory());
    for (let i = 0; i < MAX_SCALED; i++) expect(factors.set(`label ${i}`, i / MAX_SCALED)).toBe(true);
    expect(factors.set('one more', 0.5)).toBe(false);
    expect(factors.read('one more')).toBeUndefined();
    expect(factors.set('label 1023', 0.25)).toBe(true);
    expect(factors.read('label 1023')?.factor).toBe(0.25);
  });

  test('an entry whose writer has ended half-way is passed over', () => {
    const words = memory();
    const factors = new LabelFactors(words);
    factors.set('first', 0.1);
    words[32 + 96] = -1; // the second entry
    factors.set('second', 0.2);
    expect([factors.read('first')?.factor, factors.read('second')?.factor]).toEqual([0.1, 0.2]);
  });

  test('of a name that two threads have added at once, the later setting decides for all', () => {
    const words = memory();
    const factors = new LabelFactors(words);
    factors.set('a', 0.1);
    words[32] = -1; // another thread writes the name in the first entry
    factors.set('a', 0.2); // into the second
    words[32] = 1; // it has
    const found = factors.read('a');
    expect(found?.factor).toBe(0.1);
    factors.set('a', 0.3);
    expect(factors.read('a')?.factor).toBe(0.3);
    expect(factors.read('a')?.stamp).not.toBe(found?.stamp);
  });
});
