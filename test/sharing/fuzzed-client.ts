import { Worker } from 'node:worker_threads';
import type { SchedulerHandle, SchedulerOptions } from 'shardwheel';

/** What a client has done and seen. */
export interface Counts {
  operations: number;
  delivered: number;
  early: number;
  doubled: number;
  wrong: number;
}

const NAMES = ['operations', 'delivered', 'early', 'doubled', 'wrong'] as const;

/** A thread whose client is driven at random: see fuzzed-thread.mjs. */
export class FuzzedClient {
  /** Of an owner, and of any client, once it is there. */
  readonly handle: Promise<SchedulerHandle>;
  private readonly worker: Worker;
  private readonly memory = new Float64Array(new SharedArrayBuffer(8 * NAMES.length));
  private readonly told: Promise<{ lost: number; wrong?: string }>;
  private isTerminated = false;

  constructor(seed: number, source: { handle: SchedulerHandle } | { options: SchedulerOptions }) {
    const workerData = { ...source, seed, counts: this.memory };
    this.worker = new Worker(new URL('./fuzzed-thread.mjs', import.meta.url), { workerData, execArgv: [] });
    this.handle = new Promise((resolve, reject) => {
      this.worker.once('error', reject);
      this.worker.once('message', ({ handle }) => resolve(handle));
    });
    this.told = new Promise((resolve, reject) => {
      this.worker.on('error', reject);
      this.worker.on('exit', (code) => {
        if (this.isTerminated)
          resolve({ lost: 0 }); // its own timers, and nobody else's
        else reject(new Error(`a client's thread has exited by itself, with code ${code}`));
      });
      this.worker.on('message', ({ stop }) => {
        if (stop !== undefined) resolve(stop);
      });
    });
    this.told.catch(() => undefined);
    this.handle.catch(() => undefined);
  }

  get counts(): Counts {
    return Object.fromEntries(NAMES.map((name, at) => [name, this.memory[at]])) as unknown as Counts;
  }

  block(milliseconds: number): void {
    this.worker.postMessage({ ask: 'block', gate: milliseconds });
  }

  /** An owner's: kills the thread of a shard, if there is one just now. */
  killShard(shard: number): void {
    this.worker.postMessage({ ask: 'kill', gate: shard });
  }

  /** Ends its thread wherever that stands. */
  async terminate(): Promise<void> {
    this.isTerminated = true;
    await this.worker.terminate();
  }

  /** An owner's: closes the scheduler, and ends. */
  async close(): Promise<void> {
    this.worker.postMessage({ ask: 'close' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await this.terminate();
  }

  /** Rests until its timers have come; resolves with the number of those that have not. */
  async drain(): Promise<number> {
    this.worker.postMessage({ ask: 'drain' });
    const drained = new Promise<number>((resolve) => {
      const listen = ({ drain }: { drain?: { lost: number } }) => {
        if (drain === undefined) return;
        this.worker.off('message', listen);
        resolve(drain.lost);
      };
      this.worker.on('message', listen);
    });
    return Promise.race([drained, this.told.then(({ lost }) => lost)]);
  }

  /** Resolves with the number of its timers that never came, and the first answer that was wrong. */
  async stop(): Promise<{ lost: number; wrong?: string }> {
    this.worker.postMessage({ ask: 'stop' });
    const told = await this.told;
    await this.terminate();
    return told;
  }
}
