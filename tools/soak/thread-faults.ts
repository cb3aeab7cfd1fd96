import type { Worker } from 'node:worker_threads';
import { Scheduler } from '../../src/scheduler/scheduler.ts';

export type CrashKind = 'terminate' | 'throw' | 'exit' | 'memory' | 'hang';

export const crashKinds: readonly CrashKind[] = ['terminate', 'throw', 'exit', 'memory', 'hang'];

/** The private way from a scheduler to its threads: for this soak, and for no other use. */
interface Keepers {
  readonly keepers: readonly {
    /** Not there before its first thread is started. */
    readonly thread?: {
      readonly pool?: {
        readonly threads: readonly Worker[];
        run(task: CrashKind, options: { filename: string }): Promise<unknown>;
      };
    };
  }[];
}

const TASK = new URL('./crash-task.cjs', import.meta.url).href;

/** Ends threads of a scheduler from without and from within. */
export class ThreadFaults {
  readonly counts: Record<CrashKind, number> = { terminate: 0, throw: 0, exit: 0, memory: 0, hang: 0 };
  readonly #keepers: Keepers['keepers'];

  constructor(scheduler: Scheduler) {
    this.#keepers = (Scheduler.coordinatorOf(scheduler) as unknown as Keepers).keepers;
  }

  /** Has the shard's thread end; without effect where there is none at the moment. */
  crash(shard: number, kind: CrashKind): void {
    const pool = this.#keepers[shard]!.thread?.pool;
    const thread = pool?.threads[0];
    if (pool === undefined || thread === undefined) return;
    this.counts[kind]++;
    if (kind === 'terminate') void thread.terminate();
    else pool.run(kind, { filename: TASK }).catch(() => undefined); // it ends with its thread
  }
}
