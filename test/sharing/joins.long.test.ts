import { Worker } from 'node:worker_threads';
import { createScheduler, type Scheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { SEED } from '../fixtures/draws.ts';
import { pass } from '../fixtures/event-loop.ts';

/** Steps of a client that connects: more than there are. Each run tries others of them. */
const MAX_STEPS = 2000;
const STRIDE = process.env.SHARDWHEEL_EXHAUSTIVE === undefined ? 4 : 1;

/**
 * Has a client connect, and stand still before its n-th step while `meanwhile` runs. Resolves with what became of its
 * timer, and with whether there was such a step.
 */
async function joinAt(at: number, shards: number, meanwhile: (owner: Scheduler) => Promise<void>) {
  const owner = createScheduler({ shards });
  await owner.ready;
  const gate = new SharedArrayBuffer(8);
  const words = new Int32Array(gate);
  const worker = new Worker(new URL('./joining.mjs', import.meta.url), {
    workerData: { handle: owner.share(), gate, at },
  });
  const said = new Promise<{ outcome: string; steps: number }>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  let isOver = false;
  void said.then(() => {
    isOver = true;
  });
  while (Atomics.load(words, 0) === 0 && !isOver) await pass(1);
  const isReached = Atomics.load(words, 0) === 1;
  const during = isReached ? meanwhile(owner) : Promise.resolve();
  await pass(5);
  Atomics.store(words, 1, 1);
  Atomics.notify(words, 1);
  const { outcome } = await said;
  await Promise.race([during, pass(30_000).then(() => Promise.reject(new Error(`step ${at}: pending`)))]);
  await ended;
  await owner.close();
  return { outcome, isReached };
}

test.each([0, 1])(
  `the owner closes while a client connects, at any step: it is refused, or has its timer, seed ${SEED}; shards %i`,
  async (shards) => {
    let steps = 0;
    for (let at = 1 + (SEED % STRIDE); at < MAX_STEPS; at += STRIDE) {
      const { outcome, isReached } = await joinAt(at, shards, async (owner) => void (await owner.close()));
      expect(['fired', 'ERR_STALE_HANDLE'], `step ${at}`).toContain(outcome);
      if (!isReached) break;
      steps += 1;
    }
    expect(steps).toBeGreaterThan(40 / STRIDE);
  },
  300_000,
);

test(`cancelAnywhere while a client connects, at any step, has its answer, seed ${SEED}`, async () => {
  let steps = 0;
  for (let at = 1 + (SEED % STRIDE); at < MAX_STEPS; at += STRIDE) {
    const { outcome, isReached } = await joinAt(at, 0, async (owner) => {
      expect(await owner.cancelAnywhere(12_345)).toBe(false);
    });
    expect(outcome, `step ${at}`).toBe('fired');
    if (!isReached) break;
    steps += 1;
  }
  expect(steps).toBeGreaterThan(40 / STRIDE);
}, 300_000);
