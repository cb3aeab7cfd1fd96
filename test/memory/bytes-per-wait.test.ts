import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

const COUNT = 20_000;

/** Bytes of heap that each of many waits that have ended leaves with a promise that lives on. */
async function bytesLeft(waits: string): Promise<number> {
  const { stdout } = await runText(
    `import { createScheduler } from 'shardwheel';
     const scheduler = createScheduler({ shards: 0, clock: 'manual' });
     await scheduler.ready;
     const race = (work) => {
       let late;
       const limit = new Promise((_, reject) => { late = reject; });
       setTimeout(() => late(new Error('late')), 1);
       return Promise.race([work, limit]);
     };
     const withTimeout = (work) => scheduler.withTimeout(work, 1);
     const run = async (work) => {
       const waits = Array.from({ length: ${COUNT} }, () => ${waits}(work).catch(() => undefined));
       await scheduler.advanceTo(scheduler.now() + 1);
       await Promise.all(waits);
     };
     await run(new Promise(() => undefined));
     const lasting = new Promise(() => undefined);
     gc();
     const before = process.memoryUsage().heapUsed;
     await run(lasting);
     gc();
     console.log((process.memoryUsage().heapUsed - before) / ${COUNT});
     process.exit(lasting === undefined ? 1 : 0);`,
    ['--expose-gc'],
  );
  return Number(stdout);
}

test('withTimeout leaves no more with a promise that lives on than Promise.race does', async () => {
  const [ours, races] = [await bytesLeft('withTimeout'), await bytesLeft('race')];
  expect(races).toBeGreaterThan(200);
  expect(ours).toBeGreaterThan(100); // it waits for the promise
  expect(ours).toBeLessThanOrEqual(races);
});

test('a wait that ends while its work begins leaves nothing with the promise of the work', async () => {
  const { stdout } = await runText(
    `import { createScheduler } from 'shardwheel';
     const scheduler = createScheduler({ shards: 0, clock: 'manual' });
     const signals = [];
     const lasting = [];
     for (let i = 0; i < 100; i++) {
       const group = scheduler.group(i);
       const work = (signal) => {
         signals.push(new WeakRef(signal));
         group.cancelAll();
         return new Promise((resolve) => void lasting.push(resolve));
       };
       await scheduler.withTimeout(work, 100, { workerHint: group }).catch(() => undefined);
     }
     await new Promise(setImmediate);
     gc();
     console.log(lasting.length, signals.filter((signal) => signal.deref() !== undefined).length <= 1);
     process.exit(lasting.length === 100 ? 0 : 1);`,
    ['--expose-gc'],
  );
  expect(stdout.trim()).toBe('100 true');
});

test.each([
  ['has come', 'await new Promise((resolve) => signal.addEventListener("abort", resolve));'],
  ['is cancelled', 'group.cancelAll();'],
  ['is disposed', 'signal[Symbol.dispose]();'],
])('a signal whose timer %s leaves nothing of the signal that it was given', async (_, end) => {
  const { stdout, stderr } = await runText(
    `import { createScheduler } from 'shardwheel';
     const scheduler = createScheduler({ shards: 0 });
     const holding = setInterval(() => {}, 1000);
     const ended = [];
     const outer = [];
     const one = async (delay) => {
       const controller = new AbortController();
       outer.push(new WeakRef(controller.signal));
       const group = scheduler.group(delay);
       const signal = scheduler.signalAfter(delay, { signal: controller.signal, workerHint: group });
       ended.push(signal);
       ${end}
     };
     for (let i = 0; i < 20; i++) await one(1);
     for (let i = 0; i < 3; i++) await new Promise(setImmediate);
     gc();
     console.log(ended.length, outer.filter((signal) => signal.deref() !== undefined).length <= 1);
     clearInterval(holding);`,
    ['--expose-gc'],
  );
  expect({ stdout: stdout.trim(), stderr }).toEqual({ stdout: '20 true', stderr: '' });
});
