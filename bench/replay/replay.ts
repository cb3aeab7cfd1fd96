import { Worker } from 'node:worker_threads';
import type { Scheduler } from 'shardwheel';
import { asPart, commandFile } from './command-file.ts';
import { EventLoops, type Loops } from './event-loops.ts';
import { type LoopCalls, LoopReplay } from './loop-replay.ts';
import { MemoryMeter } from './memory-meter.ts';
import { mergedResult, mergedState } from './merged-loops.ts';
import type { ReplayOptions } from './options.ts';
import type { LoopState, Progress, ReplayResult, SubjectName } from './replay-result.ts';
import { showScheduler } from './show-scheduler.ts';

/**
 * A replay against one subject: on this thread's event loop, or with `threads` on as many others of this process. Those
 * are clients of one scheduler, which this thread owns and has no timers of; of Node's timers each has its own.
 */
export class Replay {
  readonly #name: SubjectName;
  readonly #options: ReplayOptions;
  readonly #onProgress: (progress: Progress) => void;
  readonly #memory = new MemoryMeter();
  readonly #threads: EventLoops<LoopCalls, LoopState> | undefined;
  readonly #loops: Loops<LoopCalls>;
  readonly #states: LoopState[];
  #sampled = { at: 0, opened: 0 };

  constructor(name: SubjectName, options: ReplayOptions, onProgress: (progress: Progress) => void) {
    this.#name = name;
    this.#options = options;
    this.#onProgress = onProgress;
    const none: LoopState = {
      phase: 'starting',
      now: 0,
      opened: 0,
      live: 0,
      fired: 0,
      lateness: { p50: 0, p99: 0, max: 0 },
    };
    this.#states = Array.from({ length: options.threads }, () => none);
    if (options.threads > 1) {
      const start = () => new Worker(commandFile, { argv: asPart('loop-thread', '') });
      this.#threads = new EventLoops(start, options.threads, (index, state) => this.#heard(index, state));
      this.#loops = this.#threads;
    } else {
      const loop = new LoopReplay((state) => this.#heard(0, state));
      this.#loops = { all: (call) => Promise.all([call(loop, 0)]) };
    }
  }

  /** Ends the arrivals and the drain as soon as possible. */
  stop(): void {
    this.#loops.all((loop) => loop.stop()).catch(() => undefined); // `run` says what has failed
  }

  async run(): Promise<ReplayResult> {
    let owner: Scheduler | undefined;
    try {
      this.#report('starting');
      const [name, options] = [this.#name, this.#options];
      await this.#loops.all((loop, index) => loop.layOut({ name, options, index }));
      this.#memory.before();
      owner = await this.#createOwner();
      const handle = owner?.share();
      await this.#loops.all((loop) => loop.prepare(handle));
      this.#memory.rest();
      await this.#loops.all((loop) => loop.drive());
      const results = await this.#loops.all((loop) => loop.finish());
      this.#threads?.leave();
      const memory = this.#memory.use();
      return { subject: name, asked: options.cps, memory, ...mergedResult(results) };
    } catch (error) {
      await this.#threads?.terminate();
      throw error;
    } finally {
      await owner?.close();
    }
  }

  /** The scheduler that several event loops share. */
  async #createOwner(): Promise<Scheduler | undefined> {
    if (this.#threads === undefined || this.#name !== 'shardwheel') return undefined;
    // Imported here, so that the other replays do without its code.
    const { createScheduler } = await import('shardwheel');
    const { shards, tick, wheel } = this.#options;
    const owner = createScheduler({ shards, tick, wheel });
    await owner.ready;
    await showScheduler(owner, this.#options);
    return owner;
  }

  /** Looks at the memory, and reports once for all loops. */
  #heard(index: number, state: LoopState): void {
    this.#states[index] = state;
    this.#memory.sample(mergedState(this.#states).live);
    if (index === 0) this.#report(state.phase);
  }

  #report(phase: Progress['phase']): void {
    const { fired, lateness, live, now, opened } = mergedState(this.#states);
    const rate = now > this.#sampled.at ? ((opened - this.#sampled.opened) / (now - this.#sampled.at)) * 1000 : 0;
    this.#sampled = { at: now, opened };
    const elapsed = phase === 'starting' ? 0 : now / 1000;
    this.#onProgress({ phase, elapsed, rate, live, fired, lateness });
  }
}
