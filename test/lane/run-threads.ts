import { Worker } from 'node:worker_threads';

/** Runs scripts of test/lane/threads, which import the built package, at once; resolves with what each of them posts. */
export function runThreads(...threads: { script: string; data: unknown }[]): Promise<unknown[]> {
  return Promise.all(
    threads.map(
      ({ script, data }) =>
        new Promise((resolve, reject) => {
          const worker = new Worker(new URL(`./threads/${script}.mjs`, import.meta.url), { workerData: data });
          worker.once('message', (result) => {
            resolve(result);
            void worker.terminate();
          });
          worker.once('error', reject);
          worker.once('exit', (code) => reject(new Error(`${script} ended with code ${code} and no result`)));
        }),
    ),
  );
}
