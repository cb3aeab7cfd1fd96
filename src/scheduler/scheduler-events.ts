import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import type { CoordinatorEvents } from '../assembly/coordinator.ts';
import { contexts } from '../async-context/async-context.ts';
import type { FailedTimer, FiredBatch } from '../client/delivery-events.ts';
import type { LateTurn } from '../client/late-timers.ts';
import type { ShardInlineError } from '../errors.ts';
import type { ShardRestart } from '../hosts/restart-policy.ts';
import type { Serving } from '../hosts/serving.ts';
import { guard, reportError, warn } from '../report-error.ts';
import { warnOnce } from '../warn-once.ts';

interface Message {
  scheduler: object;
}

/**
 * The messages on channels of `node:diagnostics_channel`: `shardwheel:` and the name. A channel without subscribers
 * gets no messages.
 */
export interface Messages {
  'shard-restart': ShardRestart & Message;
  /** A shard that should have a thread runs in the calling thread from now on. */
  inline: { shard: number | undefined; error: ShardInlineError } & Message;
  /** With `shards: 'auto'`: what serves the shards has changed. */
  serving: Serving & { shards: number } & Message;
  /**
   * `refused` timers were refused for lack of capacity since the last message; at most one message a second for each
   * shard. Without a shard, the wheel of drop-in timers was full.
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

/**
 * Returns what counts a timer that was refused for lack of capacity, at a time in ms, and answers how many of its shard
 * to report now: 0, or all since the last report, if that is long enough ago.
 */
function newRefusals(): (shard: number | undefined, now: number) => number {
  const ofShards = new Map<number | undefined, { reportedAt: number; unreported: number }>();
  return (shard, now) => {
    const { reportedAt, unreported } = ofShards.get(shard) ?? { reportedAt: Number.NEGATIVE_INFINITY, unreported: 0 };
    const isDue = now >= reportedAt + MESSAGE_PAUSE_MS;
    ofShards.set(shard, isDue ? { reportedAt: now, unreported: 0 } : { reportedAt, unreported: unreported + 1 });
    return isDue ? unreported + 1 : 0;
  };
}

/** Warns, once in a process, of timers that fall due and that nobody hears of. */
function warnOfUnheard({ length }: FiredBatch): void {
  warnOnce('SHARDWHEEL_UNHEARD', () => {
    const timers =
      length === 1
        ? 'A timer that was started without a callback has'
        : `${length} timers that were started without a callback have`;
    return (
      `${timers} fallen due, and nobody listens to 'fired'. Give schedule() a callback, or listen: ` +
      "scheduler.on('fired', ({ length, ids, args }) => …)"
    );
  });
}

export interface SchedulerEvents {
  fired: [batch: FiredBatch];
  'shard-restart': [restart: ShardRestart];
  /**
   * What a callback has thrown, with its timer; or an error of the scheduler's own. A promise that a callback returns
   * is not looked at.
   */
  error: [error: unknown, timer?: FailedTimer];
  /**
   * The scheduler has been closed: by `close()`, `options.signal` or `await using`. Emitted once, in a microtask of
   * that call and before its promise resolves: no timer is live any more, what waited for one has been settled, and
   * threads may still be ending. Listeners are called in the order in which they were added, and `close()` answers them
   * the same promise. A connected scheduler tells of its own end: when the shared one is closed, it goes on.
   */
  close: [];
}

/** Returns events that report to a scheduler's listeners, and to the diagnostics channels. @internal */
export function eventsOf(scheduler: EventEmitter<SchedulerEvents>, shards: number): CoordinatorEvents {
  const refusals = newRefusals();
  return {
    emitBatch: (batch) =>
      guard(scheduler, () => {
        if (!scheduler.emit('fired', batch)) warnOfUnheard(batch);
      }),
    failed: (error, context, timer) => contexts.run(context, reportError, scheduler, error, timer),
    restarted: (restart) => {
      publishDiagnostics('shard-restart', { ...restart, scheduler });
      guard(scheduler, () => scheduler.emit('shard-restart', restart));
    },
    wentInline: (error) => {
      publishDiagnostics('inline', { shard: error.shard, error, scheduler });
      warn(scheduler, error);
    },
    closed: () => guard(scheduler, () => scheduler.emit('close')),
    late: (turn) => publishDiagnostics('late', { ...turn, scheduler }),
    refused: (shard, capacity, now) => {
      const refused = refusals(shard, now);
      if (refused > 0) publishDiagnostics('capacity', { shard, capacity, refused, scheduler });
    },
    shardFailed: (error) => warn(scheduler, error),
    servingChanged: (serving) => publishDiagnostics('serving', { ...serving, shards, scheduler }),
  };
}
