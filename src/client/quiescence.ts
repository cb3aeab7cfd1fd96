import type { ClientLane } from './client-lane.ts';

/** The parts of the client that it needs. @internal */
export interface QuiescenceHost {
  readonly lanes: readonly ClientLane[];
  readonly isClosed: boolean;
  readonly turnClock: { now(): void; onIdle: (() => void) | undefined };
  /** Lets the shards know all commands, and makes sure that a turn comes now. */
  publish(): void;
}

/**
 * Waits until every shard has caught up with the clock and with all commands, and all fired timers are delivered and have run:
 *
 *     ask all shards ─▶ all have answered ─▶ nothing waits to be delivered ─▶ nothing was sent since the question ─▶ reached
 *          ▲                                                                              │ something was
 *          └──────────────────────────────────────────────────────────────────────────────┘
 */
export class Quiescence {
  private readonly host: QuiescenceHost;
  private reached: (() => void) | undefined;

  /** @internal */
  constructor(host: QuiescenceHost) {
    this.host = host;
  }

  /** Resolves then, or when the client is closed. Precondition: there is no other waiter. */
  quiesce(): Promise<void> {
    if (this.host.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.reached = resolve;
      this.host.turnClock.onIdle = this.check;
      this.ask();
    });
  }

  /** Called when the client has ended a turn and left nothing to deliver. */
  private readonly check = (): void => {
    const { lanes } = this.host;
    for (const lane of lanes) {
      if (!lane.isAnswered()) return; // the shard rings when it has
    }
    if (lanes.some((lane) => lane.fired.available() > 0)) this.host.turnClock.now();
    else if (lanes.some((lane) => lane.hasSentSinceRequest()))
      this.ask(); // some of those commands may be due
    else this.end();
  };

  end(): void {
    this.host.turnClock.onIdle = undefined;
    this.reached?.();
    this.reached = undefined;
  }

  /** Asks all shards to report when they have caught up, including the commands that are staged now. */
  private ask(): void {
    this.host.publish();
    for (const lane of this.host.lanes) lane.requestAnswer();
  }
}
