import { Worker } from 'node:worker_threads';
import { describe, expect, test, vi } from 'vitest';
import { Pulse, PulseKeeper } from '../../src/sharing/pulse.ts';
import { pass, turn, until } from '../fixtures/event-loop.ts';

const newWords = (): Int32Array => new Int32Array(new SharedArrayBuffer(128));

/** A thread that holds a pulse by the same few lines as PulseKeeper, since its source is what a worker cannot load. */
const holderText = `
  const { parentPort, workerData: { words, then } } = require('node:worker_threads');
  const wait = () => Atomics.waitAsync(words, 0, 0).value.then(() => { wait(); Atomics.add(words, 2, 1); });
  for (let i = 0; i < 32; i++) wait();
  parentPort.postMessage('held');
  if (then === 'spin') for (;;);
  if (then === 'exit') setTimeout(() => process.exit(), 50);
  if (then === 'throw') setTimeout(() => { throw new Error('of its own'); }, 50);
  setInterval(() => undefined, 1000);`;

async function holder(words: Int32Array, then: string): Promise<Worker> {
  const worker = new Worker(holderText, { eval: true, workerData: { words, then } });
  worker.on('error', () => undefined);
  await new Promise((resolve) => worker.once('message', resolve));
  return worker;
}

describe('a pulse', () => {
  test('whose holder lives is never found gone, and wakes it', async () => {
    const words = newWords();
    const heard = vi.fn();
    const holder = new PulseKeeper(words);
    holder.listen(heard);
    const pulse = new Pulse(words, 1);
    for (let i = 0; i < 100; i++) {
      pulse.wake();
      expect(pulse.isGone()).toBe(false);
      await turn();
    }
    await until(() => heard.mock.calls.length >= 100);
    holder.release();
    pulse.wake();
    expect(pulse.isGone()).toBe(true);
  });

  test('is not lost by as many questions in one turn as anybody asks', async () => {
    const words = newWords();
    const heard = vi.fn();
    const holder = new PulseKeeper(words);
    holder.listen(heard);
    const pulses = [new Pulse(words, 1), new Pulse(words, 1)];
    for (let i = 0; i < 1000; i++) pulses[i % 2].wake();
    expect(heard).not.toHaveBeenCalled();
    for (const pulse of pulses) expect(pulse.isGone()).toBe(false);
    await until(() => heard.mock.calls.length > 0);
    await turn();
    for (let i = 0; i < 1000; i++) pulses[i % 2].wake();
    for (const pulse of pulses) expect(pulse.isGone()).toBe(false);
    holder.release();
  });

  test.each(['exit', 'throw', 'nothing', 'spin'])(
    'of a thread that ends (%s) is found gone, and not before',
    async (then) => {
      const words = newWords();
      const worker = await holder(words, then);
      const pulse = new Pulse(words, 1);
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      if (then === 'nothing' || then === 'spin') {
        for (let i = 0; i < 10; i++) {
          expect(pulse.isGone()).toBe(false);
          await pass(30);
        }
        void worker.terminate();
      }
      await ended;
      await until(() => pulse.isGone());
    },
  );

  test('of a thread that was busy for long, and asked for all of that, is found gone soon after its end', async () => {
    const words = newWords();
    const worker = await holder(words, 'spin');
    const pulse = new Pulse(words, 1);
    for (let i = 0; i < 100; i++) {
      pulse.wake(); // more than it answers
      expect(pulse.isGone()).toBe(false);
      await pass(5);
    }
    await worker.terminate();
    for (let i = 0; i < 100; i++) pulse.wake();
    await until(() => pulse.isGone());
  });

  test('that was found gone says nothing of the next who holds the same words', async () => {
    const words = newWords();
    const first = new PulseKeeper(words);
    const [ofFirst, ofSecond] = [new Pulse(words, 1), new Pulse(words, 2)];
    first.release();
    ofFirst.wake();
    expect(ofFirst.isGone()).toBe(true);
    const second = new PulseKeeper(words);
    expect(ofSecond.isGone()).toBe(false);
    ofSecond.wake();
    await turn();
    expect(ofSecond.isGone()).toBe(false);
    second.release();
  });
});
