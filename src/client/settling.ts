import type { ClientLane } from './client-lane.ts';

/** What settling needs of the client. */
export interface SettlingHost {
  readonly lanes: readonly ClientLane[];
  readonly isClosed: boolean;
  readonly loop: { arm(): void };
  afterPublish(): void;
}

/**
 * Waits until every shard has caught up with the clock and with all commands, and what fired is delivered and has run:
 *
 *     ask all shards ─▶ all have answered ─▶ nothing waits to be delivered ─▶ nothing was sent since the question ─▶ settled
 *          ▲                                                                              │ something was
 *          └──────────────────────────────────────────────────────────────────────────────┘
 */
export class Settling {
  private readonly host: SettlingHost;
  private settled: (() => void) | undefined;
  /** Timers that were delivered and whose callbacks run later, in immediates of their own. */
  private pendingCallbacks = 0;

  constructor(host: SettlingHost) {
    this.host = host;
  }

  /** Resolves once it is so, or the client is closed. Precondition: nobody else waits. */
  settle(): Promise<void> {
    if (this.host.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.settled = resolve;
      this.ask();
      this.host.loop.arm();
    });
  }

  /** The callback of a timer just delivered will run later: `settle` waits for it. */
  callbackDeferred(): void {
    this.pendingCallbacks += 1;
  }

  /** A deferred callback is about to run, or will not. */
  callbackDone(): void {
    this.pendingCallbacks -= 1;
    if (this.pendingCallbacks === 0 && this.settled !== undefined) this.host.loop.arm();
  }

  /** The client has ended a turn, and left nothing to deliver. */
  check(): void {
    if (this.settled === undefined || this.pendingCallbacks > 0) return; // the last of them arms a turn
    const { lanes } = this.host;
    for (const lane of lanes) {
      if (!lane.isAnswered()) return; // the shard rings when it has
    }
    if (lanes.some((lane) => lane.firedCount() > 0)) this.host.loop.arm();
    else if (lanes.some((lane) => lane.hasSentSinceRequest()))
      this.ask(); // some of that may be due
    else this.end();
  }

  /** Nobody waits any longer. */
  end(): void {
    this.settled?.();
    this.settled = undefined;
  }

  /** Asks all shards to say when they have caught up, with what is published here included. */
  private ask(): void {
    for (const lane of this.host.lanes) {
      lane.commands.publish();
      lane.requestAnswer();
    }
    this.host.afterPublish();
  }
}
