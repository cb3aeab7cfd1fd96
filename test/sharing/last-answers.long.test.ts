import { Worker } from 'node:worker_threads';
import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { runModule } from '../fixtures/child-process.ts';
import { ClientThread } from '../fixtures/client-thread.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

/** A client that leaves in some way as soon as its timer has been cancelled. */
const leaving = `
const { parentPort, workerData } = require('node:worker_threads');
import('${new URL('../../lib/index.js', import.meta.url)}').then(({ connectScheduler }) => {
  const { handle, gone, how } = workerData;
  const words = new Int32Array(gone);
  const scheduler = connectScheduler(handle);
  parentPort.postMessage(scheduler.scheduleAfter('a', 3_600_000));
  const look = setInterval(async () => {
    if (scheduler.size > 0) return;
    clearInterval(look);
    if (how === 'close') await scheduler.close();
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    if (how === 'exit') process.exit();
  }, 1);
});`;

test.each(['close', 'exit'])(
  'cancelAnywhere says true of a timer that it has ended, though its client is gone: by %s',
  async (how) => {
    await using owner = createScheduler({ shards: 0 });
    const gone = new SharedArrayBuffer(4);
    const worker = new Worker(leaving, { eval: true, workerData: { handle: owner.share(), gone, how } });
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const id = await new Promise<number>((resolve) => worker.once('message', resolve));
    const answer = owner.cancelAnywhere(id);
    await null;
    Atomics.wait(new Int32Array(gone), 0, 0, 5000);
    const until = performance.now() + 200; // its answer has come, and the check of who is there is due
    while (performance.now() < until);
    expect(await answer).toBe(true);
    await worker.terminate();
    await ended;
  },
);

describe('what is awaited last holds its thread, and what is no id is nobody’s', () => {
  test('setScale everywhere, while another client is blocked', async () => {
    const { code, stdout } = await runModule(
      `import { Worker } from 'node:worker_threads';
       const scheduler = createScheduler({ shards });
       const worker = new Worker(\`import('./lib/index.js').then(async ({ connectScheduler }) => {
         const { workerData } = await import('node:worker_threads');
         const scheduler = connectScheduler(workerData);
         const label = scheduler.label('idle', { min: 10 });
         await label.setScale(0.5, { everywhere: true });
         console.log('reached');
       });\`, { eval: true, workerData: scheduler.share() });
       worker.on('online', () => setImmediate(() => {
         const until = performance.now() + 400;
         while (performance.now() < until);
       }));
       worker.on('exit', (code) => {
         console.log('exit', code);
         void scheduler.close();
       });`,
      0,
    );
    expect({ code, stdout: stdout.trim().split('\n').sort() }).toEqual({ code: 0, stdout: ['exit 0', 'reached'] });
  });

  test('close(), just after a thread was given up', async () => {
    const { code, stdout } = await runModule(
      `const scheduler = createScheduler();
       const [host] = coordinatorOf(scheduler).hosts;
       const hold = setTimeout(() => undefined, 50_000);
       host.startThread();
       await host.ready();
       await host.endThread();
       clearTimeout(hold);
       await scheduler.close();
       console.log('closed');`,
      1,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'closed\n' });
  });

  test('cancelAnywhere of what is no id', async () => {
    await using owner = createScheduler({ shards: 0 });
    await using client = ClientThread.connect(owner.share());
    await client.run(({ scheduler }) => void scheduler.scheduleAfter('a', 3_600_000));
    for (const id of [() => undefined, Symbol('id'), {}, null, undefined, '5', 5n]) {
      expect(await owner.cancelAnywhere(id as never)).toBe(false);
    }
  });
});

test(`two clients move a manual clock: it never goes further than anybody asked, and each has its timers by then, seed ${SEED}`, async () => {
  const draws = new Draws(SEED);
  await using owner = createScheduler({ shards: 0, clock: 'manual' });
  await using client = ClientThread.connect(owner.share());
  let furthest = 0;
  for (let round = 0; round < 60; round++) {
    const [mine, other] = [furthest + 1 + draws.below(50), furthest + 1 + draws.below(50)];
    const due = Array.from({ length: 5 }, () => furthest + 1 + draws.below(80));
    const fired: number[] = [];
    for (const deadline of due) owner.schedule('a', deadline, (at: number) => fired.push(at), deadline);
    const theirs = client.run(({ scheduler }, to) => scheduler.advanceTo(to).then(() => scheduler.now()), other);
    await owner.advanceTo(mine);
    expect(due.filter((deadline) => deadline <= mine && !fired.includes(deadline))).toEqual([]);
    await theirs;
    furthest = Math.max(furthest, mine, other);
    expect(owner.now()).toBe(furthest);
  }
});
