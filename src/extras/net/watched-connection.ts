import { InvalidArgumentError, SchedulerClosedError } from '../../errors.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { TimerId } from '../../timer-id.ts';
import type { Limit, LimitedConnection } from './limit.ts';
import {
  bytesReadBy,
  hasUnwritten,
  isHalfEnded,
  isHandedOver,
  isOpening,
  isSession,
  isUnread,
  openingOf,
  type Peer,
  progressOf,
} from './peer.ts';
import { listenTo, listenToStep, type PeerListener, requireUnwatched, unlisten } from './peer-listener.ts';
import { SocketTimeoutError, type TimeoutKind } from './socket-timeout-error.ts';

/** ms that the sum of an idle limit's timers may fall short of it, by rounding. */
const ROUNDING = 0.001;

/** The sockets of one connection. */
export interface WatchedSockets {
  /** The client's. */
  readonly socket: Peer;
  /** The other side of a proxy's connection. */
  readonly upstream: Peer | undefined;
  /** Ends the watch: no timer and no listener of it is left. Without effect once it has ended. */
  release(): void;
}

/** What all connections of one `socketTimeouts` have in common. */
export interface ConnectionWatch {
  readonly scheduler: Scheduler;
  readonly limits: Readonly<Partial<Record<TimeoutKind, Limit>>>;
  readonly onTimeout: ((kind: SocketTimeoutError['kind'], watched: WatchedSockets) => void) | undefined;
  /** Called when a connection is no longer watched. */
  ended(connection: WatchedConnection): void;
}

/**
 * One connection under its limits:
 *
 *     watch ─▶ connect ─▶ secure ─▶ open ─▶ a direction ends: halfClose ─▶ closed
 *     ├──────────────────────────────── lifetime ────────────────────────────────┤
 *                                   open: firstByte of the client; idle, once both sides are open
 *
 * No listener is called for data. Bytes are looked at when a timer of `firstByte` has come, and at quarters of `idle`;
 * by then the loop has read what had reached the socket, see guarantee 16.
 */
export class WatchedConnection implements WatchedSockets, LimitedConnection, PeerListener {
  readonly socket: Peer;
  readonly upstream: Peer | undefined;
  private readonly watch: ConnectionWatch;
  private readonly hint: number;
  /** 'ending': its sockets have been asked to end, once what they have written is on its way. */
  private state: 'watched' | 'ending' | 'over' = 'watched';
  private clientOpening: TimerId | undefined = undefined;
  private upstreamOpening: TimerId | undefined = undefined;
  private firstByte: TimerId | undefined = undefined;
  private idle: TimerId | undefined = undefined;
  private halfClose: TimerId | undefined = undefined;
  private lifetime: TimerId | undefined = undefined;
  /** What both sides had moved when somebody last looked, and when that had changed, on the scheduler's clock. */
  private progress = 0;
  private movedAt = 0;
  /** Whether both sides have been open, or have ended before. */
  private wasOpen = false;

  /** `hint`: places its timers. Throws InvalidArgumentError. */
  constructor(socket: Peer, upstream: Peer | undefined, watch: ConnectionWatch, hint: number) {
    this.socket = socket;
    this.upstream = upstream;
    this.watch = watch;
    this.hint = hint;
    requireUnwatched(socket);
    if (upstream !== undefined) requireUnwatched(upstream);
    if (socket === upstream) throw new InvalidArgumentError('upstream', 'must be another socket', upstream);
  }

  /** Throws CapacityExceededError, AllocationError, SchedulerClosedError; then nothing of it is left. */
  start(): void {
    const { socket, upstream } = this;
    const { limits, scheduler } = this.watch;
    try {
      this.movedAt = scheduler.now();
      for (const peer of this.peers()) listenTo(peer, this, limits.halfClose !== undefined);
      this.lifetime = limits.lifetime?.start(this.hint, this);
      this.open(socket);
      if (upstream !== undefined) this.open(upstream);
      if (this.peers().some(isHalfEnded)) this.startHalfClose();
      if (socket.destroyed) this.closed(socket);
      if (upstream?.destroyed === true) this.closed(upstream);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  release(): void {
    if (this.state === 'over') return;
    this.state = 'over';
    this.cancel(this.clientOpening);
    this.cancel(this.upstreamOpening);
    this.cancel(this.firstByte);
    this.cancel(this.idle);
    this.cancel(this.halfClose);
    this.cancel(this.lifetime);
    for (const peer of this.peers()) unlisten(peer);
    this.watch.ended(this);
  }

  /** Whether both sides have ended by themselves, though not all has been closed yet. */
  get hasEnded(): boolean {
    return this.socket.destroyed && this.upstream?.destroyed !== false;
  }

  /** Ends the watch if a socket of it has gone to another process. */
  releaseIfHandedOver(): boolean {
    if (!this.wasOpen || !this.peers().some(isHandedOver)) return false;
    this.release();
    return true;
  }

  /** Whether bytes wait for the system to take them. */
  get isWriting(): boolean {
    return this.peers().some(hasUnwritten);
  }

  /** Destroys both sides. The program is told first: then the sockets still know their addresses. */
  cut(kind: SocketTimeoutError['kind'], after: number): void {
    this.release();
    try {
      this.watch.onTimeout?.(kind, this);
    } finally {
      this.destroy(new SocketTimeoutError(kind, after));
    }
  }

  /**
   * Ends it without an error, as far as nothing moves: what has been written is on its way first. A session ends with
   * its streams.
   */
  endIfIdleFor(time: number): void {
    if (this.releaseIfHandedOver()) return;
    for (const peer of this.peers()) if (isSession(peer) && !peer.destroyed) peer.close();
    if (this.state !== 'watched' || !this.isIdleFor(time)) return;
    this.state = 'ending';
    for (const peer of this.peers()) if (!isSession(peer) && !peer.destroyed) peer.destroySoon();
  }

  timeUp(kind: TimeoutKind): void {
    const limit = this.watch.limits[kind] as Limit;
    if (this.hasEnded || this.releaseIfHandedOver()) return;
    // it has failed in this turn of the loop, and 'close' comes in the next phase
    if ((kind === 'connect' || kind === 'secure') && !this.peers().some((peer) => isOpening(peer, kind))) return;
    if (kind === 'firstByte' && (this.socket.destroyed || bytesReadBy(this.socket) > 0)) return;
    if (kind === 'firstByte' && isUnread(this.socket)) {
      this.guarded(() => this.watchFirstByte());
      return;
    }
    if (kind === 'idle' && !this.isIdleFor(limit.inForce)) {
      this.guarded(() => this.watchIdle());
      return;
    }
    limit.timedOut += 1;
    this.cut(kind, limit.inForce);
  }

  /** Whether no byte has moved for so many ms, as far as it has been looked at. */
  isIdleFor(time: number): boolean {
    const progress = this.readProgress();
    const now = this.watch.scheduler.now();
    if (progress !== this.progress) {
      this.progress = progress;
      this.movedAt = now;
    }
    return now - this.movedAt >= time - ROUNDING;
  }

  // Called by the sockets.

  /** A step of the opening is over. */
  opened(peer: Peer): void {
    this.endOpening(peer);
    this.guarded(() => this.open(peer));
  }

  directionEnded(): void {
    this.guarded(() => this.startHalfClose());
  }

  closed(peer: Peer): void {
    this.endOpening(peer);
    if (this.hasEnded) {
      this.release();
      return;
    }
    this.guarded(() => {
      this.startHalfClose();
      this.beginIdle();
    });
  }

  // How a connection gets on.

  private open(peer: Peer): void {
    const { limits } = this.watch;
    if (peer.destroyed) return;
    const step = openingOf(peer);
    if (step !== undefined) {
      listenToStep(peer, step);
      const timer = limits[step]?.start(this.hint, this);
      if (peer === this.socket) this.clientOpening = timer;
      else this.upstreamOpening = timer;
      return;
    }
    if (peer === this.socket && bytesReadBy(peer) === 0) this.watchFirstByte();
    this.beginIdle();
  }

  /** Once all sides are open that have not ended. */
  private beginIdle(): void {
    if (this.idle !== undefined || this.peers().some((peer) => isOpening(peer))) return;
    this.wasOpen = true;
    this.progress = this.readProgress();
    this.movedAt = this.watch.scheduler.now();
    this.watchIdle();
  }

  private startHalfClose(): void {
    this.halfClose ??= this.watch.limits.halfClose?.start(this.hint, this);
  }

  private watchFirstByte(): void {
    this.firstByte = this.watch.limits.firstByte?.start(this.hint, this);
  }

  private watchIdle(): void {
    this.idle = this.watch.limits.idle?.start(this.hint, this);
  }

  private endOpening(peer: Peer): void {
    if (peer === this.socket) this.cancel(this.clientOpening);
    else this.cancel(this.upstreamOpening);
  }

  /**
   * Without room for a timer the connection is ended with the error: none goes on unwatched, unless the scheduler is
   * closed.
   */
  private guarded(start: () => void): void {
    try {
      start();
    } catch (error) {
      this.release();
      if (!(error instanceof SchedulerClosedError)) this.destroy(error as Error);
    }
  }

  private cancel(timer: TimerId | undefined): void {
    if (timer !== undefined) this.watch.scheduler.cancel(timer);
  }

  private destroy(error: Error): void {
    for (const peer of this.peers()) if (!peer.destroyed) peer.destroy(error);
  }

  private readProgress(): number {
    return progressOf(this.socket) + (this.upstream === undefined ? 0 : progressOf(this.upstream));
  }

  private peers(): Peer[] {
    return this.upstream === undefined ? [this.socket] : [this.socket, this.upstream];
  }
}
