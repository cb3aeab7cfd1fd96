import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RingConsumer, type RingCounters, type RingMemory, RingProducer } from '../../src/lane/ring.ts';

const TAIL = 0;
const HEAD = 1;
/** Counters begin here: at 0, and where they are about to pass from 2^31 - 1 to -2^31, and from 2^32 - 1 to 0. */
const starts = [0, 2 ** 31 - 3, 2 ** 32 - 3];

function ring(capacity: number, start = 0, stride = 2) {
  const memory: RingMemory = { cells: new SharedArrayBuffer(capacity * stride * 4), stride };
  const words = new Int32Array(new SharedArrayBuffer(8));
  words.fill(start);
  const counters: RingCounters = { words, tail: TAIL, head: HEAD };
  return {
    memory,
    counters,
    words,
    producer: new RingProducer(memory, counters),
    consumer: new RingConsumer(memory, counters),
  };
}

const take = (consumer: RingConsumer): [number, number] => {
  const at = consumer.take();
  return [consumer.cells[at], consumer.cells[at + 1]];
};

describe.each([1, 2, 8])('a ring of %d', (capacity) => {
  test.each(starts)('is a queue under any mixture of steps; counters from %d', (start) => {
    const step = fc.constantFrom('push', 'publish', 'take', 'release', 'successor');
    const steps = fc.array(step, { maxLength: 200, size: 'max' });
    fc.assert(
      fc.property(steps, (sequence) => {
        const { memory, counters, producer, consumer: first } = ring(capacity, start);
        let consumer = first;
        const published: number[] = [];
        let pushed: number[] = [];
        let held = 0; // taken and not released
        let next = 0;
        for (const step of sequence) {
          const used = published.length + pushed.length + held;
          if (step === 'push') {
            const room = producer.room();
            if (room > 0 !== used < capacity || room > capacity - used) expect.fail(`room for ${room} beside ${used}`);
            if (room === 0) continue;
            producer.pushPair(next, ~next);
            pushed.push(next++);
          } else if (step === 'publish') {
            expect(producer.publish()).toBe(pushed.length > 0);
            published.push(...pushed);
            pushed = [];
          } else if (step === 'take' && published.length > 0) {
            expect(take(consumer)).toEqual([published[0], ~published[0]]);
            published.shift();
            held += 1;
          } else if (step === 'release' || step === 'successor') {
            consumer.release();
            held = 0;
            if (step === 'successor') consumer = new RingConsumer(memory, counters);
          }
          expect(consumer.available()).toBe(published.length);
          expect(producer.exactRoom()).toBe(capacity - published.length - pushed.length - held);
        }
      }),
    );
  });
});

describe('rings', () => {
  test('hold records of four words', () => {
    const { producer, consumer } = ring(2, 2 ** 31 - 1, 4);
    for (let i = 0; i < 7; i++) {
      producer.pushFour(i, -i, i * 1000, ~i);
      producer.publish();
      const at = consumer.take();
      expect([...consumer.cells.subarray(at, at + 4)]).toEqual([i, -i || 0, i * 1000, ~i]);
      consumer.release();
    }
  });

  test('a producer that takes over goes on after the last published record; what was only pushed is gone', () => {
    const { memory, counters, producer, consumer } = ring(4, 2 ** 31 - 1);
    producer.pushPair(1, 1);
    producer.publish();
    producer.pushPair(2, 2); // and dies
    const successor = new RingProducer(memory, counters);
    expect(successor.exactRoom()).toBe(3);
    successor.pushPair(3, 3);
    successor.publish();
    expect(consumer.available()).toBe(2);
    expect([take(consumer), take(consumer)]).toEqual([
      [1, 1],
      [3, 3],
    ]);
  });

  test('a consumer that takes over goes on after the last released record, or after everything published', () => {
    const { memory, counters, producer, consumer, words } = ring(4, 2 ** 32 - 1);
    for (let i = 0; i < 4; i++) producer.pushPair(i, i);
    producer.publish();
    consumer.take();
    consumer.release();
    consumer.take(); // and dies
    const successor = new RingConsumer(memory, counters);
    expect(successor.available()).toBe(3);
    expect(take(successor)).toEqual([1, 1]);
    const another = new RingConsumer(memory, counters);
    another.skipAll();
    expect(another.available()).toBe(0);
    expect(words[HEAD]).toBe(words[TAIL]);
    expect(producer.room()).toBe(4);
  });
});
