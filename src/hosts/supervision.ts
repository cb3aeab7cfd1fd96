import type { ShardFailedError, ShardInlineError } from '../errors.ts';
import type { CommandStage } from '../lane/command-stage.ts';
import type { DeathLimit } from './restart-policy.ts';
import type { ShardRestart } from './shard-host.ts';
import type { StartQueue } from './start-queue.ts';
import type { ThreadOptions } from './thread-run.ts';

export interface SupervisionOptions extends ThreadOptions {
  /** ms without a turn that was due, after which a thread is taken for hung; Infinity for never. */
  readonly hangTimeout: number;
  readonly inlineAfter: DeathLimit;
}

/** What a shard has to do with others. */
export interface Surroundings {
  /** Of its own lanes. */
  readonly stages: readonly CommandStage[];
  readonly starts: StartQueue;
  /** Where its threads hear of clients in other threads. */
  readonly address: string;
  /** Slots that those have in use. */
  readonly guestSlots: () => number;
}

/** What the scheduler hears of a shard that can run on threads. */
export interface SupervisionEvents {
  /** There are fired records, or an answer, or the shard has to be told of a publication. */
  news(): void;
  /** See InlineEvents. */
  woken(): void;
  /** No thread serves the shard now: the last is gone, or has left it. */
  gone(): void;
  restarted(restart: ShardRestart): void;
  /** No thread is started any more: the shard goes on in this one. */
  wentInline(error: ShardInlineError): void;
  /** Inline it has failed, and tries again. */
  failed(error: ShardFailedError): void;
}
