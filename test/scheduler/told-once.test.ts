import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

describe.concurrent('▲ one warning per kind and process, whichever threads call', () => {
  /**
   * Runs a module whose threads run `CLIENT`, and a call of `mistake` in each; answers with the codes that came to
   * standard error.
   */
  async function codes(text: string, before = '', execArgv: string[] = []): Promise<string[]> {
    const { code, stderr } = await runText(
      `${before}
       import { once } from 'node:events';
       import { getEnvironmentData, Worker } from 'node:worker_threads';
       import { createScheduler } from 'shardwheel';
       const mistake = (scheduler) => scheduler.cancel(scheduler.scheduleAt(1, 60_000, () => undefined));
       const CLIENT = \`
         import { parentPort, workerData } from 'node:worker_threads';
         import { connectScheduler, createScheduler } from ${JSON.stringify(import.meta.resolve('shardwheel'))};
         const mistake = (scheduler) => scheduler.cancel(scheduler.scheduleAt(1, 60_000, () => undefined));
         if (workerData === 'before') mistake(createScheduler({ shards: 0 }));
         parentPort.postMessage('up');
         parentPort.once('message', async (handle) => {
           const scheduler = handle === 'own' ? createScheduler({ shards: 0 }) : connectScheduler(handle);
           mistake(scheduler);
           await scheduler.close();
           process.exit();
         });\`;
       const start = async (workerData) => {
         const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(CLIENT)), { workerData });
         await once(worker, 'message');
         return worker;
       };
       const use = async (workers, handle) => {
         for (const worker of workers) {
           worker.postMessage(handle);
           await once(worker, 'exit');
         }
       };
       ${text}`,
      execArgv,
    );
    expect(code, stderr).toBe(0);
    return stderr.match(/SHARDWHEEL_\w+/g) ?? [];
  }
  const once = ['SHARDWHEEL_PAST_DATE'];

  test('threads of a thread that had made a scheduler, with one of their own each', async () => {
    expect(
      await codes(`
        const scheduler = createScheduler({ shards: 0 });
        await use([await start(), await start()], 'own');
        mistake(scheduler);`),
    ).toEqual(once);
  });

  test('threads that were there before, and connect', async () => {
    expect(
      await codes(`
        const workers = [await start(), await start()];
        const scheduler = createScheduler({ shards: 0 });
        await use(workers, scheduler.share());
        mistake(scheduler);
        await scheduler.close();`),
    ).toEqual(once);
  });

  test('a thread that had warned before it knew of others tells them by connecting', async () => {
    expect(
      await codes(`
        const workers = [await start('before')];
        const scheduler = createScheduler({ shards: 0 });
        await use(workers, scheduler.share());
        mistake(scheduler);
        await scheduler.close();`),
    ).toEqual(once);
  });

  test('where nothing can be shared a thread warns once', async () => {
    const withheld = '--import=data:text/javascript,delete globalThis.SharedArrayBuffer';
    const text = `
      const scheduler = createScheduler({ shards: 0 });
      mistake(scheduler);
      mistake(scheduler);`;
    expect(await codes(text, '', [withheld])).toEqual(once);
  });

  test('what a program has stored under the same name is not taken for ours', async () => {
    expect(
      await codes(
        `const scheduler = createScheduler({ shards: 0 });
         mistake(scheduler);
         mistake(scheduler);`,
        `import { setEnvironmentData } from 'node:worker_threads';
         setEnvironmentData('shardwheel.told', new SharedArrayBuffer(8));`,
      ),
    ).toEqual(once);
  });

  test('importing the package shares nothing yet', async () => {
    expect(
      await codes(`if (getEnvironmentData('shardwheel.told') !== undefined) console.error('SHARDWHEEL_PRESENT');`),
    ).toEqual([]);
  });
});
