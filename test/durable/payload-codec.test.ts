import { describe, expect, test } from 'vitest';
import { PayloadError } from '../../src/extras/durable/durable-error.ts';
import {
  decodePayload,
  encodePayload,
  type PayloadFormat,
  shownPayload,
} from '../../src/extras/durable/payload-codec.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

const LIMIT = 2 ** 24;
const through = (value: unknown, format: PayloadFormat = 'structured-clone'): unknown =>
  decodePayload(encodePayload(value, format, LIMIT));
const thrownBy = (call: () => unknown): PayloadError => {
  try {
    call();
  } catch (error) {
    return error as PayloadError;
  }
  throw new Error('nothing was thrown');
};

const views = [
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
  ...('Float16Array' in globalThis ? [Reflect.get(globalThis, 'Float16Array')] : []),
];
const numbers = [
  0,
  -0,
  1,
  -1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  2 ** 31,
  2 ** 53,
  5e-324,
];
const texts = ['', 'a', 'ä€', '😀', '\ud800', '\0', '__proto__', 'x'.repeat(300)];
const errors = [Error, RangeError, TypeError, SyntaxError, EvalError, ReferenceError, URIError];

/** A value of any kind that `structuredClone` carries; each part may be one that was made before. */
function randomValue(random: (end: number) => number): unknown {
  const made: unknown[] = [];
  const one = <T>(of: readonly T[]): T => of[random(of.length)];
  const value = (depth: number): unknown => {
    if (made.length > 0 && random(8) === 0) return one(made); // a circle, or twice the same
    const kinds = depth > 4 ? LEAVES : LEAVES + 4;
    const kind = random(kinds);
    const few = random(5);
    const container = <T>(empty: T, fill: (into: T) => void): T => {
      made.push(empty);
      fill(empty);
      return empty;
    };
    switch (kind) {
      case 0:
        return one(numbers);
      case 1:
        return one(texts);
      case 2:
        return one([undefined, null, true, false]);
      case 3:
        return one([0n, -1n, 2n ** 64n, -(10n ** 40n)]);
      case 4:
        return container(new Date(one([0, -1, 8.64e15, Number.NaN, 1.5])), () => undefined);
      case 5:
        return one([/a/, /\//giu, /(?<name>x)\1/s]);
      case 6:
        return Object(one<unknown>([-0, Number.NaN, 's', true, 5n]));
      case 7:
        return new (one(errors))(one(texts), random(2) === 0 ? undefined : { cause: one(numbers) });
      case 8: {
        const bytes = Uint8Array.from({ length: 8 * few }, () => random(256));
        const type = one(views);
        return container(new type(bytes.buffer), () => undefined);
      }
      case 9:
        return new DataView(new ArrayBuffer(8), few, 3);
      case 10:
        return container(new ArrayBuffer(few), () => undefined);
      case 11:
        return container([] as unknown[], (list) => {
          for (let at = 0; at < few; at++) if (random(4) > 0) list[at] = value(depth + 1);
          if (random(3) === 0) list.length = few + 2;
          if (random(6) === 0) Object.assign(list, { also: value(depth + 1) });
        });
      case 12:
        return container({} as Record<string, unknown>, (record) => {
          for (let at = 0; at < few; at++) {
            const [name, own] = [one(['a', 'b', '5', 'ä', '__proto__']), value(depth + 1)];
            Object.defineProperty(record, name, { value: own, enumerable: true, configurable: true, writable: true });
          }
        });
      case 13:
        return container(new Map(), (map) => {
          for (let at = 0; at < few; at++) map.set(value(depth + 1), value(depth + 1));
        });
      default:
        return container(new Set(), (set) => {
          for (let at = 0; at < few; at++) set.add(value(depth + 1));
        });
    }
  };
  return value(0);
}
const LEAVES = 11;

describe('the structured clone', () => {
  test('any value comes back as structuredClone gives it', () => {
    const draws = new Draws(SEED);
    const random = (end: number): number => draws.below(end);
    let carried = 0;
    for (; carried < 2000; carried++) {
      const value = randomValue(random);
      const back = through(value);
      expect(back, `seed ${SEED}, value ${carried}`).toStrictEqual(structuredClone(value));
    }
    expect(carried).toBe(2000);
  });

  test.each([Number.NaN, 5])('a Date of %d ms, nested as well', (time) => {
    const back = through({ at: new Date(time), in: [new Map([['at', new Date(time)]])] }) as Record<string, unknown>;
    for (const date of [through(new Date(time)), back.at, (back.in as Map<string, unknown>[])[0].get('at')]) {
      expect(date).toBeInstanceOf(Date);
      expect((date as Date).getTime()).toBe(time);
    }
  });

  test('typed arrays have memory of their own, of their size: what is written to one is in no other, and not in the bytes', () => {
    const bytes = encodePayload(
      { words: new Uint16Array([1, 2]), view: new DataView(new ArrayBuffer(3)), buffer: Buffer.from('abc') },
      'structured-clone',
      LIMIT,
    );
    const read = () => decodePayload(bytes) as { words: Uint16Array; view: DataView; buffer: Buffer };
    const first = read();
    expect([first.words, first.view, first.buffer].map((view) => [view.byteOffset, view.buffer.byteLength])).toEqual([
      [0, 4],
      [0, 3],
      [0, 3],
    ]);
    first.words.fill(9);
    first.view.setUint8(0, 9);
    first.buffer.fill(9);
    expect(read()).toEqual({
      words: new Uint16Array([1, 2]),
      view: new DataView(new ArrayBuffer(3)),
      buffer: Buffer.from('abc'),
    });
  });
});

describe('JSON', () => {
  test.each([[{ a: [1, 'ä', null, true] }], ['text'], [-5]])('%o comes back', (value) => {
    expect(through(value, 'json')).toEqual(value);
  });

  test('toJSON writes what stands for an object; an undefined property is left out', () => {
    class Point {
      x = 1;
      double = undefined;
    }
    const value = { point: new Point(), url: new URL('http://a/'), bytes: Buffer.from('a'), n: Object(5) };
    expect(through(value, 'json')).toEqual({
      point: { x: 1 },
      url: 'http://a/',
      bytes: { type: 'Buffer', data: [97] },
      n: 5,
    });
  });

  test.each<[unknown, string]>([
    [{ at: [new Date(Number.NaN)] }, 'it has an invalid Date'],
    [{ n: Number.NaN }, 'it has NaN'],
    [[Number.NEGATIVE_INFINITY], 'it has -Infinity'],
    [5n, 'BigInt'],
    [() => 0, 'cannot be stored by JSON'],
    [{ call: () => 0 }, 'it has a function'],
    [[Symbol('s')], 'it has a symbol'],
    [[1, undefined], 'it has undefined in an array'],
    [new Array(1), 'it has undefined in an array'],
    [{ n: Object(Number.NaN) }, 'it has NaN'],
    [new Map([[1, 2]]), 'it has an object of the kind Map'],
    [{ seen: new Set() }, 'it has an object of the kind Set'],
    [[/a/], 'it has an object of the kind RegExp'],
    [{ error: new Error('lost') }, 'it has an object of the kind Error'],
    [new Uint8Array(2), 'it has an object of the kind Uint8Array'],
    [{ of: new URLSearchParams('a=1') }, 'it has an object of the kind URLSearchParams'],
    [{ of: new Blob(['abc']) }, 'it has an object of the kind Blob'],
  ])('%o is refused, as it would come back as another', (value, message) => {
    const error = thrownBy(() => through(value, 'json'));
    expect(error).toMatchObject({ name: 'PayloadError', code: 'ERR_PAYLOAD_NOT_CLONEABLE' });
    expect(error.message).toContain(message);
  });
});

describe('bytes that this process cannot read', () => {
  const good = encodePayload({ list: [1, 2, 3], text: 'abc' }, 'structured-clone', LIMIT) as Uint8Array;
  /** As Node 24 and newer write a Float16Array: of a kind of view that older ones do not know. */
  const newer = Uint8Array.from([0x63, 0xff, 0x0f, 0x5c, 0x7f, 0x02, 0x00, 0x3e]);
  test.each<[string, Uint8Array]>([
    ['cut off', good.subarray(0, -4)],
    ['without a value', good.subarray(0, 1)],
    ['empty', new Uint8Array()],
    ['of no known format', Uint8Array.from([0x78, ...good.subarray(1)])],
    ['of another version', Uint8Array.from([0x63, 0xff, 0x7f, ...good.subarray(3)])],
    ['with a view of a newer Node', newer],
    ['JSON that was cut off', Uint8Array.from([0x6a, 0x7b])],
  ])('%s', (_, bytes) => {
    const error = thrownBy(() => decodePayload(bytes));
    expect(error).toBeInstanceOf(PayloadError);
    expect(error.code).toBe('ERR_PAYLOAD_UNREADABLE');
    expect(error.message).toMatch(new RegExp(`^This process cannot read a payload of ${bytes.length} bytes: .`));
    expect(shownPayload(bytes)).toMatchObject({ code: 'ERR_PAYLOAD_UNREADABLE' });
    expect(thrownBy(() => encodePayload(error, 'structured-clone', LIMIT))).toBe(error); // in no payload's place
  });
});
