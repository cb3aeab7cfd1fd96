import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { createScheduler, type Scheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { NONE, type ProgramSubject, type TimersKind } from './program.ts';

const NODE = 'node:timers';
const OURS = 'shardwheel/timers';

/** Those that a program runs on as it is. */
export const faces: readonly ProgramSubject[] = [
  { name: NODE, timers: 'node' },
  { name: OURS, timers: 'inline', note: 'as its global timers' },
];

/** For programs whose timers only bound what goes well: what it costs without any, which no timers can beat. */
export const none: ProgramSubject = {
  name: NONE,
  timers: 'none',
  note: 'timers of a second and more are not set at all',
};

type Functions = Pick<typeof timers, 'setTimeout' | 'clearTimeout' | 'setInterval' | 'clearInterval'>;

const native: Functions = functionsOf(timers);

/** ms; shorter timers have something to do, and are Node's. */
const BOUND = 1000;

const nothing: Functions = {
  ...native,
  setTimeout: without(native.setTimeout) as typeof native.setTimeout,
  setInterval: without(native.setInterval) as typeof native.setInterval,
};

/** The timers of a subject, which take the place of Node's while they are installed. */
export class ProgramTimers {
  readonly scheduler: Scheduler | undefined;
  readonly #functions: Functions;

  constructor(kind: TimersKind) {
    this.scheduler =
      kind === 'inline' || kind === 'shard' ? createScheduler({ shards: kind === 'shard' ? 1 : 0 }) : undefined;
    if (this.scheduler === undefined) this.#functions = kind === 'none' ? nothing : native;
    else this.#functions = functionsOf(createTimers(this.scheduler));
  }

  async ready(): Promise<void> {
    await this.scheduler?.ready;
  }

  /** Runs it with these timers as the global ones, and as those of node:timers. */
  async run<T>(program: () => Promise<T>): Promise<T> {
    put(this.#functions);
    try {
      return await program();
    } finally {
      put(native);
    }
  }

  async close(): Promise<void> {
    await this.scheduler?.close();
  }
}

function put(functions: Functions): void {
  Object.assign(globalThis, functions);
  Object.assign(timers, functions);
  syncBuiltinESMExports();
}

function functionsOf({ setTimeout, clearTimeout, setInterval, clearInterval }: Functions): Functions {
  return { setTimeout, clearTimeout, setInterval, clearInterval };
}

function without(set: (callback: () => void, delay: number, ...rest: unknown[]) => unknown): unknown {
  const handle = { refresh: () => handle, ref: () => handle, unref: () => handle, hasRef: () => false };
  return (callback: () => void, delay: number, ...rest: unknown[]) =>
    delay >= BOUND ? handle : set(callback, delay, ...rest);
}
