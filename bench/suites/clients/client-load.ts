import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SchedulerHandle } from 'shardwheel';
import { SEED } from '../../engine/draws.ts';
import { Load } from '../scheduler/load.ts';
import { type PacedResult, runPaced } from '../scheduler/paced-run.ts';
import { createClient } from './client-subjects.ts';

/** Pairs of a turn that is not paced: under a millisecond. */
const CHUNK = 256;

export interface ClientTask {
  readonly timers: string;
  readonly handle: SchedulerHandle | undefined;
  /** Of this loop. */
  readonly index: number;
  readonly live: number;
  /** Longest delay, ms. */
  readonly span: number;
}

export interface ClientResult extends PacedResult {
  /** Counts of the lateness of what fired, and the most of it. */
  readonly latenesses: Float64Array;
  readonly latest: number;
  readonly early: number;
  /** Over what has been asked so far. */
  readonly checksum: number;
}

/** What one event loop of several does, step by step: all of them take each step together. */
export interface ClientCalls {
  /** Starts the timers, then performs pairs until all code is compiled. */
  prepare(task: ClientTask, pairs: number): Promise<void>;
  /** Pairs of cancel and schedule at a steady rate per second. */
  pace(rate: number, seconds: number): Promise<ClientResult>;
  /** As many pairs as it can; returns how many per second. */
  hurry(seconds: number): Promise<number>;
  /** Throws unless every timer is accounted for. */
  close(): Promise<void>;
}

/** The load of one event loop. */
export class ClientLoad implements ClientCalls {
  #load!: Load;

  async prepare({ timers, handle, index, live, span }: ClientTask, pairs: number): Promise<void> {
    this.#load = new Load((handles, onFire) => createClient(timers, handle, handles, (_kind, timer) => onFire(timer)), {
      operation: 'random',
      measuresLateness: true,
      seed: SEED + index,
      live,
      span,
    });
    await this.#load.prepare();
    for (let done = 0; done < pairs; done += CHUNK) {
      this.#load.perform(CHUNK);
      await nextTurn();
    }
  }

  async pace(rate: number, seconds: number): Promise<ClientResult> {
    const load = this.#load;
    const result = await runPaced(load, rate, seconds);
    const { early, lateness, latenesses, operations: checksum } = load;
    return { ...result, latenesses, latest: lateness.max, early, checksum };
  }

  async hurry(seconds: number): Promise<number> {
    const start = performance.now();
    let pairs = 0;
    while (performance.now() - start < seconds * 1000) {
      this.#load.perform(CHUNK);
      pairs += CHUNK;
      await nextTurn();
    }
    return (pairs * 1000) / (performance.now() - start);
  }

  close(): Promise<void> {
    return this.#load.close();
  }
}
