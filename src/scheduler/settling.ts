import type { ClientLane } from './client-lane.ts';

/** What settling needs of the client. */
export interface SettlingHost {
  readonly lanes: readonly ClientLane[];
  readonly isClosed: boolean;
  /** Makes sure that a turn comes now. */
  arm(): void;
  /** Has inline shards take their turns. */
  poke(): void;
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
  /** Timers that were delivered to somebody who runs their callbacks in turns of his own, and has not yet. */
  private entrusted = 0;

  constructor(host: SettlingHost) {
    this.host = host;
  }

  /** Resolves once it is so, or the client is closed. Precondition: nobody else waits. */
  settle(): Promise<void> {
    if (this.host.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.settled = resolve;
      this.ask();
      this.host.arm();
    });
  }

  /** Of a timer just delivered the callback will run later: `settle` waits for it. */
  entrust(): void {
    this.entrusted += 1;
  }

  /** An entrusted callback is about to run, or will not. */
  discharge(): void {
    this.entrusted -= 1;
    if (this.entrusted === 0 && this.settled !== undefined) this.host.arm();
  }

  /** The client has ended a turn, and left nothing to deliver. */
  check(): void {
    if (this.settled === undefined || this.entrusted > 0) return; // the last to be discharged arms a turn
    const { lanes } = this.host;
    for (const lane of lanes) {
      if (!lane.isAnswered()) return; // the shard rings when it has
    }
    if (lanes.some((lane) => lane.firedCount() > 0)) this.host.arm();
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
    this.host.poke();
  }
}
