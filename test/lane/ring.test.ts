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
    producer: new RingProducer(memory, counters),
    consumer: new RingConsumer(memory, counters),
  };
}

const take = (consumer: RingConsumer): [number, number] => {
  const at = consumer.take();
  return [consumer.cells[at], consumer.cells[at + 1]];
};

describe.each([1, 2, 8])('a ring of %d', (capacity) => {
  test.each(starts)('is a queue under any mixture of steps, also of successors; counters from %d', (start) => {
    const step = fc.constantFrom('push', 'publish', 'take', 'release', 'next producer', 'next consumer', 'skip');
    const steps = fc.array(step, { maxLength: 200, size: 'max' });
    fc.assert(
      fc.property(steps, (sequence) => {
        const { memory, counters, ...first } = ring(capacity, start);
        let { producer, consumer } = first;
        let published: number[] = [];
        let pushed: number[] = [];
        let held: number[] = []; // taken and not released
        let next = 0;
        for (const step of sequence) {
          const used = published.length + pushed.length + held.length;
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
            held.push(published.shift() as number);
          } else if (step === 'release') {
            consumer.release();
            held = [];
          } else if (step === 'next producer') {
            producer = new RingProducer(memory, counters); // what was only pushed is gone
            pushed = [];
          } else if (step === 'next consumer' || step === 'skip') {
            consumer = new RingConsumer(memory, counters); // what was not released comes again
            published = step === 'skip' ? [] : [...held, ...published];
            held = [];
            if (step === 'skip') consumer.skipAll();
          }
          expect(consumer.available()).toBe(published.length);
          expect(producer.exactRoom()).toBe(capacity - published.length - pushed.length - held.length);
        }
      }),
    );
  });
});

test('rings hold records of four words', () => {
  const { producer, consumer } = ring(2, 2 ** 31 - 1, 4);
  for (let i = 0; i < 7; i++) {
    producer.pushFour(i, -i, i * 1000, ~i);
    producer.publish();
    const at = consumer.take();
    expect([...consumer.cells.subarray(at, at + 4)]).toEqual([i, -i || 0, i * 1000, ~i]);
    consumer.release();
  }
});
