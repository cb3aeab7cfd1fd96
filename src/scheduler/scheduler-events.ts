import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import { contexts } from '../async-context/async-context.ts';
import type { FiredBatch } from '../client/delivery-events.ts';
import type { LateTurn } from '../client/late-timers.ts';
import type { ShardInlineError } from '../errors.ts';
import type { ShardRestart } from '../hosts/restart-policy.ts';
import type { Serving } from '../hosts/thread-policy.ts';
import type { CoordinatorEvents } from './coordinator.ts';
import { guard, reportError, warn } from './report-error.ts';

/** Every message names its scheduler. */
interface Message {
  scheduler: object;
}

/**
 * The messages on channels of `node:diagnostics_channel`: `shardwheel:` and the name. A channel without subscribers gets no
 * messages.
 */
interface Messages {
  'shard-restart': ShardRestart & Message;
  /** A shard that should have a thread runs in the calling thread from now on. */
  inline: { shard: number | undefined; error: ShardInlineError } & Message;
  /** With `shards: 'auto'`: what serves the shards has changed. */
  serving: Serving & { shards: number } & Message;
  /**
   * `refused` timers were refused for lack of capacity since the last message; at most one message a second for each shard.
   * Without a shard, the wheel of drop-in timers was full.
   */
  capacity: { shard: number | undefined; capacity: number; refused: number } & Message;
  /** See `watchLateness`. */
  late: LateTurn & Message;
}

const channels = {
  'shard-restart': channel('shardwheel:shard-restart'),
  inline: channel('shardwheel:inline'),
  serving: channel('shardwheel:serving'),
  capacity: channel('shardwheel:capacity'),
  late: channel('shardwheel:late'),
};

/** Publishes a message. Never throws: Node makes a subscriber's error an uncaught exception. */
function publishDiagnostics<Name extends keyof Messages>(name: Name, message: Messages[Name]): void {
  if (channels[name].hasSubscribers) channels[name].publish(message);
}

/** Subscribes a listener; returns a function that unsubscribes it. */
export function hear<Name extends keyof Messages>(name: Name, listener: (message: Messages[Name]) => void): () => void {
  const heard = (message: unknown): void => listener(message as Messages[Name]);
  subscribe(`shardwheel:${name}`, heard);
  return () => unsubscribe(`shardwheel:${name}`, heard);
}

/** ms between two messages of a shard. */
const MESSAGE_PAUSE_MS = 1000;

interface OfShard {
  /** Time of the last message, in ms. */
  toldAt: number;
  /** Refused since then. */
  untold: number;
}

/** Timers that were refused for lack of capacity, by shard: reported at most once a second for each, whatever their number. */
class Refusals {
  private readonly shards = new Map<number | undefined, OfShard>();

  /** Counts a refusal at a time in ms. Returns how many to report now; 0 for none yet. */
  add(shard: number | undefined, now: number): number {
    const known = this.shards.get(shard) ?? { toldAt: Number.NEGATIVE_INFINITY, untold: 0 };
    this.shards.set(shard, known);
    known.untold += 1;
    if (now < known.toldAt + MESSAGE_PAUSE_MS) return 0;
    const { untold } = known;
    known.toldAt = now;
    known.untold = 0;
    return untold;
  }
}

export interface SchedulerEvents {
  fired: [batch: FiredBatch];
  'shard-restart': [restart: ShardRestart];
  error: [error: unknown];
}

/** Returns events that report to a scheduler's listeners, and to the diagnostics channels. @internal */
export function eventsOf(scheduler: EventEmitter<SchedulerEvents>, shards: number): CoordinatorEvents {
  const refusals = new Refusals();
  return {
    emitBatch: (batch) => guard(scheduler, () => scheduler.emit('fired', batch)),
    failed: (error, context) => contexts.run(context, reportError, scheduler, error),
    restarted: (restart) => {
      publishDiagnostics('shard-restart', { ...restart, scheduler });
      guard(scheduler, () => scheduler.emit('shard-restart', restart));
    },
    wentInline: (error) => {
      publishDiagnostics('inline', { shard: error.shard, error, scheduler });
      warn(scheduler, error);
    },
    late: (turn) => publishDiagnostics('late', { ...turn, scheduler }),
    refused: (shard, capacity, now) => {
      const refused = refusals.add(shard, now);
      if (refused > 0) publishDiagnostics('capacity', { shard, capacity, refused, scheduler });
    },
    shardFailed: (error) => warn(scheduler, error),
    servingChanged: (serving) => publishDiagnostics('serving', { ...serving, shards, scheduler }),
  };
}
