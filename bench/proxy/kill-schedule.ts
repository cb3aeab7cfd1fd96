import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLoops } from './event-loops.ts';

/** Kills a thread every so many seconds, one after the other, each when the last one's successor serves. */
export class KillSchedule implements AsyncDisposable {
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;

  constructor(loops: EventLoops, seconds: number) {
    this.#ended = this.#run(loops, seconds);
    this.#ended.catch(() => {}); // told by stop
  }

  /** Resolves when every thread that was killed has its successor. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop().catch(() => {}); // what went wrong is known to whoever waits for the loops
  }

  async #run(loops: EventLoops, seconds: number): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      await sleep(seconds * 1_000, undefined, { signal }).catch(() => {}); // stopped, and said so by the signal
      if (signal.aborted) return;
      await loops.killOne();
    }
  }
}
