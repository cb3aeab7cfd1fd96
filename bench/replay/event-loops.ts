import type { Worker } from 'node:worker_threads';
import { wrap } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import type { Leaving } from './serve-calls.ts';

/** Calls answered by an event loop: of another thread, or of this one. */
export interface Loops<Calls> {
  /** Calls each loop at once, and waits for all. Rejects with the first failure. */
  all<T>(call: (loop: Calls, index: number) => Promise<T>): Promise<T[]>;
}

/** A message that a thread sends without a request. */
interface News<T> {
  readonly news?: T;
}

/**
 * Event loops of this process besides this thread's: worker threads, each of which calls `serveCalls`.
 * All of `Calls` are asynchronous.
 */
export class EventLoops<Calls extends object, T = never> implements Loops<Calls> {
  readonly #threads: Worker[];
  readonly #loops: (Calls & Leaving)[];
  readonly #failure: Promise<never>;

  constructor(start: () => Worker, count: number, onNews: (index: number, news: T) => void = () => undefined) {
    this.#threads = Array.from({ length: count }, start);
    this.#loops = this.#threads.map((thread) => wrap<Calls>(nodeEndpoint(thread as never)) as never);
    for (const [index, thread] of this.#threads.entries()) {
      thread.on('message', (message: News<T>) => {
        if (message.news !== undefined) onNews(index, message.news);
      });
    }
    this.#failure = new Promise((_, reject) => {
      for (const [index, thread] of this.#threads.entries()) {
        thread.once('error', reject);
        // Its last answers come with its end: their promises are settled first.
        thread.once('exit', (code) =>
          setImmediate(reject, new Error(`event loop ${index} has ended, exit code ${code}`)),
        );
      }
    });
    this.#failure.catch(() => undefined); // it is for the pending calls
  }

  all<R>(call: (loop: Calls, index: number) => Promise<R>): Promise<R[]> {
    return Promise.race([this.#failure, Promise.all(this.#loops.map(call))]);
  }

  /** Ends the calls: each thread ends when nothing of its own keeps it, perhaps before another has been asked. */
  leave(): void {
    for (const loop of this.#loops) loop.leave().catch(() => undefined); // it has ended already
  }

  async terminate(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }
}
