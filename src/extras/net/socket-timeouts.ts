import { InvalidArgumentError, InvalidConfigError } from '../../errors.ts';
import { requireMilliseconds, requireOptions } from '../../known-options.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { TimerLabel } from '../../scheduler/timer-label.ts';
import { Drain, type DrainResult } from './drain.ts';
import type { DrainableServer } from './drainable-server.ts';
import { Limit } from './limit.ts';
import { type Peer, requirePeer } from './peer.ts';
import type { SocketTimeoutError, TimeoutKind } from './socket-timeout-error.ts';
import { type ConnectionWatch, WatchedConnection, type WatchedSockets } from './watched-connection.ts';

/** Of one kind of limit. */
export interface TimeoutCounts {
  /** Connections that it watches now. */
  readonly watched: number;
  /** Connections that it has ended since the start. */
  readonly timedOut: number;
}

/** In ms each, from 1 to ten years. What is not given is not watched. */
export interface SocketTimeoutOptions {
  /**
   * For a socket to be connected, each side by itself. Of an http2 client's session: until it is usable, TLS included.
   * Default: not watched.
   */
  connect?: number;
  /** For the TLS handshake, each side by itself. Default: not watched. */
  secure?: number;
  /**
   * For the client's first byte, from when its socket is open. While nobody reads from it, as with `pauseOnConnect`,
   * the limit looks again after the same time. Default: not watched.
   */
  firstByte?: number;
  /**
   * Without a byte that either side has sent, or that the system has taken for it. Begins when both sides are open; a
   * cut comes between 1 and 1.25 times the limit. Default: not watched.
   */
  idle?: number;
  /** What {@link SocketTimeouts.setScale} leaves of `idle` at least, up to all of it. Default: a tenth of it. */
  minIdle?: number;
  /** For the other direction to end when one has, whoever ended it. An http2 session has none. Default: not watched. */
  halfClose?: number;
  /** For the whole connection, from `watch`. Default: not watched. */
  lifetime?: number;
  /**
   * Called before the sockets are destroyed, for a log. Not called for `release`, nor when a socket ends by itself.
   * Default: none.
   */
  onTimeout?: (kind: SocketTimeoutError['kind'], watched: WatchedSockets) => void;
}

const KINDS = ['connect', 'secure', 'firstByte', 'idle', 'halfClose', 'lifetime'] as const satisfies TimeoutKind[];

const OPTIONS = {
  connect: 0,
  secure: 0,
  firstByte: 0,
  idle: 0,
  minIdle: 0,
  halfClose: 0,
  lifetime: 0,
  onTimeout: 0,
} satisfies Record<keyof SocketTimeoutOptions, 0>;

/** Timers in a row that make up an idle limit: a cut comes at most one of them late. */
const IDLE_STEPS = 4;

/** The longest limit in ms: ten years. */
const MAX_LIMIT_MS = 10 * 365 * 86_400_000;

/** The labels' names, as metrics show them. */
const LABELS: Readonly<Record<TimeoutKind, string>> = {
  connect: 'socket-connect',
  secure: 'socket-secure',
  firstByte: 'socket-first-byte',
  idle: 'socket-idle',
  halfClose: 'socket-half-close',
  lifetime: 'socket-lifetime',
};

/** By scheduler: how many have been made. Their labels differ, since each has a scale of its own. */
const made = new WeakMap<Scheduler, number>();

/** Limits of connections, and their end. See {@link socketTimeouts}. */
export class SocketTimeouts {
  private readonly scheduler: Scheduler;
  private readonly limits: Partial<Record<TimeoutKind, Limit>> = {};
  private readonly idleLabel: TimerLabel | undefined;
  private readonly connections = new Set<WatchedConnection>();
  private readonly watching: ConnectionWatch;
  private draining: Drain | undefined;
  private hint = 0;

  /** Use `socketTimeouts`. @internal */
  constructor(scheduler: Scheduler, options: SocketTimeoutOptions) {
    const { minIdle, onTimeout } = options;
    const delays = KINDS.map((kind) => [kind, options[kind]] as const);
    this.scheduler = scheduler;
    const number = (made.get(scheduler) ?? 0) + 1;
    made.set(scheduler, number);
    for (const [kind, delay] of delays) {
      if (delay === undefined) continue;
      const name = number === 1 ? LABELS[kind] : `${LABELS[kind]}-${number}`;
      if (kind === 'idle') {
        this.idleLabel = scheduler.label(name, { ref: false, min: (minIdle ?? delay / 10) / IDLE_STEPS });
        this.limits.idle = new Limit(kind, delay, this.idleLabel, IDLE_STEPS);
      } else this.limits[kind] = new Limit(kind, delay, scheduler.label(name, { ref: false }), 1);
    }
    this.watching = {
      scheduler,
      limits: this.limits,
      onTimeout,
      ended: (connection) => {
        this.connections.delete(connection);
        this.draining?.ended();
      },
    };
  }

  /** Per kind: connections that are watched for it now, and that it has ended since the start. */
  get counts(): Readonly<Record<TimeoutKind, TimeoutCounts>> {
    const of = (kind: TimeoutKind): [TimeoutKind, TimeoutCounts] => {
      const { watched = 0, timedOut = 0 } = this.limits[kind] ?? {};
      return [kind, { watched, timedOut }];
    };
    return Object.fromEntries(KINDS.map(of)) as Record<TimeoutKind, TimeoutCounts>;
  }

  /**
   * Watches a socket, or the two of a proxy's connection, until they have ended. Any state of theirs will do: before
   * they are connected, during the handshake, paused. No listener for data is added, and nothing is read. With TLS
   * watch the TLSSocket, not what carries it. The program has a listener for `'error'` on each, as for any error of a
   * socket. When `child.send` has given one to another process, the watch ends at the next look.
   * @throws InvalidArgumentError if it is neither a socket nor a session, or is watched already; CapacityExceededError,
   * AllocationError, SchedulerClosedError: then it is not watched.
   * @cost a timer per kind that has begun, some 400 bytes, three listeners a socket; nothing per packet.
   */
  watch(socket: Peer, upstream?: Peer): WatchedSockets {
    requirePeer('socket', socket);
    if (upstream !== undefined) requirePeer('upstream', upstream);
    this.hint = (this.hint + 1) | 0;
    const connection = new WatchedConnection(socket, upstream, this.watching, this.hint);
    this.connections.add(connection);
    connection.start();
    return connection;
  }

  /**
   * Sets the share, from 0 to 1, of the time beyond `minIdle` that idle connections get, at once: under pressure a
   * server gives up what is idle earlier. Resolves when live timers have moved. Throws InvalidArgumentError, also
   * without an `idle` limit.
   */
  async setScale(factor: number): Promise<void> {
    if (this.idleLabel === undefined)
      throw new InvalidArgumentError('factor', 'needs options.idle, which it scales', factor);
    await this.idleLabel.setScale(factor);
  }

  /**
   * Ends all connections: stops the server from accepting, ends idle ones at once, busy ones when they fall idle, and
   * cuts the rest after `within` ms (from 0, Infinity too), by an error of kind 'drain'. Idle is what has moved no byte
   * for a quarter of a second. A socket of any http server is idle between two requests, when its last answer has been
   * written; an http2 session ends with its streams. Called again meanwhile, it ends at the earlier of both deadlines:
   * `drain(0)` cuts at once. Resolves with how they ended; rejects with InvalidArgumentError, InvalidConfigError,
   * SchedulerClosedError.
   */
  async drain(within: number, server?: DrainableServer): Promise<DrainResult> {
    if (within !== Number.POSITIVE_INFINITY) requireMilliseconds('within', within, 0, MAX_LIMIT_MS);
    if (server !== undefined && typeof server?.close !== 'function') {
      throw new InvalidArgumentError('server', 'must be a server', server);
    }
    const drain = this.draining ?? new Drain(this.scheduler, this.connections, within);
    this.draining = drain;
    if (server !== undefined) drain.close(server);
    drain.shorten(within);
    try {
      return await drain.run();
    } finally {
      if (this.draining === drain) this.draining = undefined;
    }
  }
}

/**
 * Ends connections in time: each kind of limit that is given holds for each connection that is watched. When a limit is
 * over, both sockets are destroyed with a {@link SocketTimeoutError}. For a scheduler, or a client of a shared one.
 *
 * Bytes are looked at by the sockets' own counts, when a timer asks for them: a packet costs nothing. A loop that was
 * blocked reads what has arrived before it ends a connection for being idle.
 *
 * One serves all connections of the same limits. Each has a label of its own for each kind that it watches, and a
 * scheduler 254 labels: there is room for 42 with all six kinds.
 * @throws InvalidArgumentError, InvalidConfigError for an option; InvalidArgumentError of argument `label` when the
 * scheduler has no label left.
 */
export function socketTimeouts(scheduler: Scheduler, options: SocketTimeoutOptions): SocketTimeouts {
  if (typeof scheduler?.label !== 'function' || typeof scheduler.sleep !== 'function') {
    throw new InvalidArgumentError(
      'scheduler',
      'must be a scheduler: createScheduler() or connectScheduler()',
      scheduler,
    );
  }
  requireOptions(options, OPTIONS);
  const { onTimeout } = options;
  for (const kind of KINDS) {
    if (options[kind] !== undefined) requireMilliseconds(`options.${kind}`, options[kind], 1, MAX_LIMIT_MS);
  }
  if (options.minIdle !== undefined) {
    if (options.idle === undefined)
      throw new InvalidConfigError('options.minIdle', 'needs options.idle', options.minIdle);
    requireMilliseconds('options.minIdle', options.minIdle, 1, options.idle);
  }
  if (onTimeout !== undefined && typeof onTimeout !== 'function') {
    throw new InvalidArgumentError('options.onTimeout', 'must be a function', onTimeout);
  }
  return new SocketTimeouts(scheduler, options);
}
