import type { ShardFailedError, ShardInlineError } from '../errors.ts';
import type { CommandStage } from '../lane/command-stage.ts';
import type { DeathLimit } from './restart-policy.ts';
import type { ShardRestart } from './shard-host.ts';
import type { StartQueue } from './start-queue.ts';
import type { ThreadOptions } from './thread-run.ts';

export interface SupervisionOptions extends ThreadOptions {
  /** ms without a turn that was due, after which a thread counts as hung; Infinity for never. */
  readonly hangTimeout: number;
  readonly inlineAfter: DeathLimit;
}

/** The surroundings of a shard. */
export interface Surroundings {
  /** The stages of its own lanes. */
  readonly stages: readonly CommandStage[];
  readonly starts: StartQueue;
  /** The address at which its threads hear of clients in other threads. */
  readonly address: string;
  /** Number of slots that those clients use. */
  readonly guestSlots: () => number;
}

/** The events of a shard that can run on threads. */
export interface SupervisionEvents {
  /** There are fired records, or an answer, or the shard must learn of a publication. */
  news(): void;
  /** See InlineEvents. */
  turnBy(time: number): void;
  /** No thread serves the shard now: the last has died or left it. */
  gone(): void;
  restarted(restart: ShardRestart): void;
  /** No further thread is started: the shard goes on in this one. */
  wentInline(error: ShardInlineError): void;
  /** It has failed inline, and tries again. */
  failed(error: ShardFailedError): void;
}
