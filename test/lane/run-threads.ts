import { Worker } from 'node:worker_threads';

/**
 * A thread that waits for what has been lost is ended before its test gives up: until then Vitest's process would not
 * end.
 */
const LIMIT = 100_000;

/**
 * Runs scripts of test/lane/threads, which import the built package, at once; resolves with what each of them posts.
 */
export function runThreads(...threads: { script: string; data: unknown }[]): Promise<unknown[]> {
  return Promise.all(
    threads.map(
      ({ script, data }) =>
        new Promise((resolve, reject) => {
          const worker = new Worker(new URL(`./threads/${script}.mjs`, import.meta.url), { workerData: data });
          const limit = setTimeout(() => void worker.terminate(), LIMIT);
          worker.once('message', (result) => {
            clearTimeout(limit);
            resolve(result);
            void worker.terminate();
          });
          worker.once('error', reject);
          worker.once('exit', (code) => {
            clearTimeout(limit);
            reject(new Error(`${script} ended with code ${code} and no result`));
          });
        }),
    ),
  );
}
