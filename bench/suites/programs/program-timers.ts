import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { createScheduler, type Scheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import type { ProgramSubject, TimersKind } from './program.ts';

const NODE = 'node:timers';
const OURS = 'shardwheel/timers';

/** Those that a program runs on as it is. */
export const faces: readonly ProgramSubject[] = [
  { name: NODE, timers: 'node' },
  { name: OURS, timers: 'inline', note: 'as its global timers' },
];

type Functions = Pick<typeof timers, 'setTimeout' | 'clearTimeout' | 'setInterval' | 'clearInterval'>;

const native: Functions = functionsOf(timers);

/** The timers of a subject, which take the place of Node's while they are installed. */
export class ProgramTimers {
  readonly scheduler: Scheduler | undefined;
  readonly #functions: Functions;

  constructor(kind: TimersKind) {
    this.scheduler =
      kind === 'inline' || kind === 'shard' ? createScheduler({ shards: kind === 'shard' ? 1 : 0 }) : undefined;
    this.#functions = this.scheduler === undefined ? native : functionsOf(createTimers(this.scheduler));
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
