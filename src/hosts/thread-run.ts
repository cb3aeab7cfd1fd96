import type { ResourceLimits } from 'node:worker_threads';
import type { ShardControl } from '../shard/shard-control.ts';
import type { ControlCall } from './shard-host.ts';

/** The options of a shard's threads. */
export interface ThreadOptions {
  /** URL of the file that threads run; undefined for the package's own. */
  readonly workerUrl: string | undefined;
  readonly resourceLimits: ResourceLimits;
  /** Node's flags for the threads; they do not get the process's own. */
  readonly execArgv: readonly string[];
  /** The whole environment of the threads. */
  readonly env: Readonly<Record<string, string>>;
}

/** The control calls of a thread, through comlink; comlink's own types need those of browsers. */
export type RemoteControl = { [C in ControlCall]: () => Promise<Awaited<ReturnType<ShardControl[C]>>> };

/** The answer of a call whose thread has ended meanwhile. */
export const GONE = Symbol('the thread is gone');

/** One thread that serves the shard, until its end. */
export class ThreadRun {
  /** Resolves with what ended the thread, after it has exited. */
  readonly ended: Promise<Error>;
  /** Number of live timers that were indexed from the tables. */
  readonly rescheduled: number;
  private readonly control: RemoteControl;
  private readonly waiting = new Set<() => void>();
  private isOver = false;

  constructor(control: RemoteControl, ended: Promise<Error>, rescheduled: number) {
    this.control = control;
    this.ended = ended;
    this.rescheduled = rescheduled;
    void ended.then(() => {
      this.isOver = true;
      for (const giveUp of this.waiting) giveUp();
    });
  }

  /** Makes a control call. A parked shard sees it only when `ring` rings it. */
  ask<C extends ControlCall>(name: C, ring: () => void): Promise<ReturnType<ShardControl[C]> | typeof GONE> {
    if (this.isOver) return Promise.resolve(GONE);
    return new Promise((resolve, reject) => {
      const giveUp = () => resolve(GONE);
      this.waiting.add(giveUp);
      const done = () => this.waiting.delete(giveUp);
      const answer = this.control[name]() as Promise<ReturnType<ShardControl[C]>>;
      answer.then(resolve, reject).finally(done);
      ring();
    });
  }
}
