import { setEnvironmentData, Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { connectScheduler, createScheduler, type SchedulerHandle } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { ClientThread, Gate } from '../fixtures/client-thread.ts';
import { until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';

const entry = new URL('../../lib/index.js', import.meta.url).href;

/** A thread that runs a module's text, in which `connectScheduler` and `parentPort` can be named; its first message. */
async function firstMessage(text: string, options: { workerData?: unknown; post?: unknown } = {}): Promise<unknown> {
  const module = `import { parentPort, workerData, Worker, getEnvironmentData } from 'node:worker_threads';
    import { connectScheduler, createScheduler } from '${entry}';
    ${text}`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(module)}`);
  const worker = new Worker(url, { workerData: options.workerData, execArgv: [] });
  try {
    if (options.post !== undefined) worker.postMessage(options.post);
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  } finally {
    await worker.terminate();
  }
}

/** Connects by `handle`, and says so when a timer has fired. */
const fireOne = `const scheduler = connectScheduler(handle);
  scheduler.scheduleAfter(1, 5, () => parentPort.postMessage({ fired: scheduler.now() >= 5, shards: scheduler.shards }));`;

describe('a handle reaches a thread', () => {
  const inner = `import { parentPort, workerData } from 'node:worker_threads';
    import { connectScheduler } from '${entry}';
    const handle = workerData; ${fireOne}`;
  const nested = `const own = connectScheduler(workerData);
    const url = new URL('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(inner))});
    new Worker(url, { workerData: own.share() }).on('message', (message) => parentPort.postMessage(message));`;

  test.each([
    ['by workerData', `const handle = workerData; ${fireOne}`],
    ['by postMessage, without a transfer list', `parentPort.once('message', (handle) => { ${fireOne} });`],
    ['by setEnvironmentData', `const handle = getEnvironmentData('a handle'); ${fireOne}`],
    ['in a worker of a worker, and handed on by a connected scheduler', nested],
  ])('%s', async (way, text) => {
    await using scheduler = createScheduler({ shards: 1 });
    const handle = scheduler.share();
    if (way.includes('Environment')) setEnvironmentData('a handle', handle as never);
    const options = way.includes('post') ? { post: handle } : { workerData: handle };
    expect(await firstMessage(text, options)).toEqual({ fired: true, shards: 1 });
    setEnvironmentData('a handle', undefined as never);
  });

  test("by a piscina task's argument", async () => {
    await using scheduler = createScheduler({ shards: 1 });
    const filename = new URL('../fixtures/connecting-task.mjs', import.meta.url).href;
    const pool = new Piscina({ filename, maxThreads: 1, execArgv: [] });
    expect(await pool.run(scheduler.share())).toBe('fired');
    await pool.destroy();
  });
});

describe('a handle that is of no use is refused, with a code', () => {
  const connect = (value: unknown) => () => connectScheduler(value as SchedulerHandle);

  test('forged', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const handle = scheduler.share();
    const forgeries: unknown[] = [undefined, null, 7, 'handle', {}, [], { shardwheel: 1 }];
    const memory = new SharedArrayBuffer(64);
    const parts = [{ board: undefined }, { doorbells: [] }, { board: memory }, { clock: {} }, { shardwheel: 'x' }];
    forgeries.push(...[...parts, { doorbells: [{}] }, { shardwheel: 99 }].map((part) => ({ ...handle, ...part })));
    for (const forgery of forgeries) {
      expect(connect(forgery)).toThrow(expect.objectContaining({ name: 'HandleError', code: 'ERR_INVALID_HANDLE' }));
    }
  });

  test('from another process, also as JSON', async () => {
    const { stdout } = await runText(`import { createScheduler } from 'shardwheel';
      console.log(JSON.stringify(createScheduler({ shards: 0 }).share()));`);
    expect(connect(JSON.parse(stdout))).toThrow(expect.objectContaining({ code: 'ERR_FOREIGN_HANDLE' }));
    await using scheduler = createScheduler({ shards: 0 });
    expect(connect({ ...scheduler.share(), pid: 1 })).toThrow(expect.objectContaining({ code: 'ERR_FOREIGN_HANDLE' }));
  });

  test("the thread's own, and one that it is connected by already, until it has closed that", async () => {
    await using scheduler = createScheduler({ shards: 1 });
    const handle = scheduler.share();
    expect(connect(handle)).toThrow(expect.objectContaining({ code: 'ERR_ALREADY_CONNECTED' }));
    const text = `const first = connectScheduler(workerData);
      const codes = [];
      const tryAgain = () => { try { connectScheduler(workerData); codes.push('connected'); } catch (error) { codes.push(error.code); } };
      tryAgain();
      await first.close();
      tryAgain();
      parentPort.postMessage(codes);`;
    expect(await firstMessage(text, { workerData: handle })).toEqual(['ERR_ALREADY_CONNECTED', 'connected']);
  });

  test('of a scheduler that has been closed, or whose thread has ended', async () => {
    const scheduler = createScheduler({ shards: 0 });
    const handle = scheduler.share();
    await scheduler.close();
    const code = `try { connectScheduler(workerData); parentPort.postMessage('connected'); }
      catch (error) { parentPort.postMessage(error.code); }`;
    expect(await firstMessage(code, { workerData: handle })).toBe('ERR_STALE_HANDLE');
    await using owner = ClientThread.own({ shards: 1 });
    const lost = await owner.run(({ scheduler }) => scheduler.share());
    await owner.worker.terminate();
    await new Promise((resolve) => setTimeout(resolve, 150)); // until somebody may ask for it again
    expect(await firstMessage(code, { workerData: lost })).toBe('ERR_STALE_HANDLE');
  });

  test('whose signal takes no listener, and then nothing is left', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const text = `const signal = { aborted: false, removeEventListener() {}, addEventListener() { throw new Error('none'); } };
      const told = [];
      for (let i = 0; i < 3; i++) try { connectScheduler(workerData, { signal }); } catch (error) { told.push(error.message); }
      const other = connectScheduler(workerData);
      setTimeout(() => parentPort.postMessage(told), 50);`;
    expect(await firstMessage(text, { workerData: scheduler.share() })).toEqual(['none', 'none', 'none']);
    await until(async () => (await scheduler.stats()).clients.length === 1);
  });

  test('and options that cannot work', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const text = `const codes = [];
      for (const options of [{ maxBatch: 0 }, { ioFirst: -1 }, { signal: {} }, 7]) {
        try { connectScheduler(workerData, options); codes.push('connected'); } catch (error) { codes.push(error.code); }
      }
      parentPort.postMessage(codes);`;
    const codes = await firstMessage(text, { workerData: scheduler.share() });
    const invalid = ['ERR_INVALID_CONFIG', 'ERR_INVALID_CONFIG', 'ERR_INVALID_ARG_TYPE', 'ERR_INVALID_ARG_TYPE'];
    expect(codes).toEqual(invalid);
  });
});

describe('a connected scheduler', () => {
  test.each(['auto', 0, 1, 2] as const)(
    'has all of the ways to set a timer, and its own events: shards %s',
    async (shards) => {
      await using scheduler = createScheduler({ shards, capacity: 1024 });
      await using client = ClientThread.connect(scheduler.share(), { maxBatch: 10 });
      const seen = await client.run(async ({ scheduler }) => {
        const log: string[] = [];
        let batched = 0;
        let longest = 0;
        scheduler.on('fired', ({ length }) => {
          batched += length;
          longest = Math.max(longest, length);
        });
        scheduler.on('error', (error) => log.push((error as Error).message));
        const far = scheduler.now() + 60_000;
        const last = scheduler.schedule('z', far);
        log.push(`${(await scheduler.nextExpiration()) === Math.ceil(far)} ${scheduler.cancel(last)}`);
        const soon = scheduler.now() + 20;
        scheduler.scheduleMany([...new Array(50).keys()], new Array(50).fill(soon));
        const moved = scheduler.scheduleAfter('a', 60_000, () => log.push('moved'));
        log.push(`${scheduler.reschedule(moved, soon)} ${scheduler.deadlineOf(moved) === soon}`);
        const cancelled = scheduler.schedule('b', soon, () => log.push('never'));
        log.push(`${scheduler.cancel(cancelled)} ${scheduler.cancel(cancelled)}`);
        scheduler.schedule('c', soon, () => {
          throw new Error('thrown');
        });
        await scheduler.withTimeout(new Promise(() => undefined), 5).catch((error) => log.push(error.code));
        await new Promise((resolve) => scheduler.schedule('d', soon + 30, resolve));
        while (scheduler.size > 0) await new Promise((resolve) => setImmediate(resolve));
        const { scheduled, delivered, cancelled: ended, clients } = await scheduler.stats();
        return { log: log.sort(), batched, longest, scheduled, delivered, ended, clients };
      });
      expect(seen).toEqual({
        log: ['ERR_TIMEOUT', 'moved', 'thrown', 'true false', 'true true', 'true true'],
        batched: 50,
        longest: expect.any(Number),
        scheduled: 56,
        delivered: 54,
        ended: 2,
        clients: [],
      });
      expect(seen.longest).toBeLessThanOrEqual(10);
    },
  );

  test('has the capacity of its owner to itself, on each shard', async () => {
    await using scheduler = createScheduler({ shards: 2, capacity: 100 });
    for (let i = 0; i < 60; i++) scheduler.scheduleAfter(1, 60_000);
    await using client = ClientThread.connect(scheduler.share());
    const refused = await client.run(({ scheduler }) => {
      for (let i = 0; i < 100; i++) scheduler.scheduleAfter(1, 60_000);
      try {
        scheduler.scheduleAfter(1, 60_000);
      } catch (error) {
        return `${(error as { code: string }).code} ${scheduler.size}`;
      }
      return 'accepted';
    });
    expect(refused).toBe('ERR_CAPACITY_EXCEEDED 100');
  });

  test('lays out a lane at its first timer, and none before', async () => {
    await using scheduler = await readyScheduler({ shards: 8, capacity: 1024 });
    await using client = ClientThread.connect(scheduler.share());
    const lanes = () => client.run(async ({ scheduler }) => (await scheduler.stats()).shards.map(({ shard }) => shard));
    expect(await lanes()).toEqual([]);
    const hint = await client.run(({ scheduler }) => {
      scheduler.scheduleAfter(7, 60_000);
      scheduler.scheduleAfter(7, 60_000);
      return scheduler.shardOf(7);
    });
    expect(await lanes()).toEqual([hint]);
    await until(async () => (await scheduler.stats()).shards.reduce((sum, { lanes }) => sum + lanes, 0) === 9);
  });

  test('with a manual clock: whoever moves it, all are served', async () => {
    for (const shards of [0, 2]) {
      await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 1024 });
      await using client = ClientThread.connect(scheduler.share());
      let own = 0;
      scheduler.schedule(1, 100, () => {
        own += 1;
      });
      await client.scheduleAll(500, 100);
      expect(await scheduler.advanceTo(99.5)).toBe(0);
      await until(async () => (await client.sum()).ended === 495);
      expect(await client.run(({ scheduler }) => scheduler.advanceTo(200))).toBe(5);
      await until(() => own === 1);
      expect(await client.sum()).toEqual({ ended: 500, doubled: 0, early: 0 });
    }
  });

  test('has ids of its own, though all threads draw the same numbers', async () => {
    const text = `import { Worker } from 'node:worker_threads';
      import { createScheduler } from 'shardwheel';
      const worker = \`import { parentPort, workerData } from 'node:worker_threads';
        import { connectScheduler } from '${entry}';
        parentPort.postMessage(connectScheduler(workerData).scheduleAfter(1, 60_000));
        setInterval(() => undefined, 1000);\`;
      const scheduler = createScheduler({ shards: 1 });
      const url = new URL('data:text/javascript,' + encodeURIComponent(worker));
      const ids = new Set([scheduler.scheduleAfter(1, 60_000)]);
      for (let i = 0; i < 2; i++) {
        const thread = new Worker(url, { workerData: scheduler.share() });
        ids.add(await new Promise((resolve) => thread.once('message', resolve)));
      }
      console.log(ids.size);
      process.exit();`;
    expect(await runText(text, ['--random-seed=42'])).toMatchObject({ code: 0, stdout: '3\n' });
  });

  test('with a manual clock that leaps over what words tell apart: in order of due time', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual' });
    await using client = ClientThread.connect(scheduler.share());
    await client.run(({ scheduler, book }) => {
      const day = 86_400_000;
      for (const days of [80, 60, 70]) scheduler.schedule(1, days * day, () => book.errors.push(`day ${days}`));
    });
    await scheduler.advanceTo(120 * 86_400_000);
    await until(async () => (await client.run(({ book }) => book.errors.length)) === 3);
    expect(await client.run(({ book }) => book.errors)).toEqual(['day 60', 'day 70', 'day 80']);
  });

  test('that is asked for its counts again and again while it is blocked, and ends so, is found gone', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const client = ClientThread.connect(scheduler.share());
    const gate = new Gate();
    await gate.block(client);
    for (let i = 0; i < 40; i++) await scheduler.stats({ timeout: 10 });
    expect((await scheduler.stats({ timeout: 10 })).clients.length).toBe(2);
    await client.worker.terminate();
    await until(async () => (await scheduler.stats({ timeout: 10 })).clients.length === 1);
  });

  test('does not hold its thread when nothing of it is live, nor the owner its own', async () => {
    const text = `import { Worker, isMainThread, workerData } from 'node:worker_threads';
      import { createScheduler, connectScheduler } from 'shardwheel';
      const worker = \`import { workerData } from 'node:worker_threads';
        import { connectScheduler } from '${entry}';
        const scheduler = connectScheduler(workerData);
        scheduler.scheduleAfter(1, 60_000).toString();
        scheduler.scheduleAfter(1, 20, () => { console.log('fired'); scheduler.unref(); });\`;
      const scheduler = createScheduler({ shards: 1 });
      const url = new URL('data:text/javascript,' + encodeURIComponent(worker));
      for (let i = 0; i < 2; i++) new Worker(url, { workerData: scheduler.share() }).on('exit', (code) => console.log('exit', code));`;
    const { code, stdout } = await runText(text);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n').sort()).toEqual(['exit 0', 'exit 0', 'fired', 'fired']);
  });
});
