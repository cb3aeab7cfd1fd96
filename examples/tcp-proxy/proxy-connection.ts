import type { Socket } from 'node:net';
import type { Scheduler, TimerGroup, TimerId } from 'shardwheel';

/** ms each. */
export interface ProxyTimeouts {
  /** for the upstream to complete the handshake */
  connect: number;
  /** without a byte in either direction */
  idle: number;
  /** from the last byte of a request to the first of its answer */
  request: number;
  /** for the other side to finish after one side has ended, or after the proxy began to close */
  drain: number;
}

export type CutReason = keyof ProxyTimeouts;

export type Outcome = 'served' | 'failed' | CutReason;

export interface ConnectionContext {
  readonly scheduler: Scheduler;
  readonly timeouts: ProxyTimeouts;
  onEnd(connection: ProxyConnection): void;
}

const cutBy: Record<CutReason, (connection: ProxyConnection) => void> = {
  connect: (connection) => connection.cut('connect'),
  idle: (connection) => connection.cut('idle'),
  request: (connection) => connection.cut('request'),
  drain: (connection) => connection.cut('drain'),
};

/**
 * One client's connection and the proxy's own to the upstream, tied together.
 *
 *      accepted            upstream connected          a FIN of either side, or drain()
 *   ─────────────▶ connecting ─────────────▶ open ──────────────────────────────▶ draining ────▶ both sockets closed
 *   connect timer  ├──────────┤ idle timer   ├────── moved by every chunk ──────┤
 *                               request timer   ├─ request ─▶ answer ┤
 *                                                               drain timer     ├──────────────────┤
 *
 * Backpressure: a side is read only while the other takes what is written. The client is not read before the upstream
 * is there, so what it sends early waits in the kernel. A FIN is passed on as a FIN once everything before it is
 * written; the other direction goes on. A cut resets both sides, so that nobody takes half an answer for a whole one.
 *
 * The proxy does not parse: a request is what the client sends between two answers. Every chunk of it moves the request
 * timer (a long upload is no slow answer), and the first byte of an answer cancels it.
 *
 * Callbacks get the connection as their argument, so no timer costs a closure. All timers are of one group, which places
 * them on one shard and ends with the connection. Invariant: a connection that has ended holds no live timer.
 */
export class ProxyConnection {
  readonly number: number;
  readonly clientPort: number | undefined;
  /** By the wall clock, which is the same in the client's process. */
  readonly acceptedAt = Date.now();
  bytesUp = 0;
  bytesDown = 0;
  outcome: Outcome = 'served';
  error: Error | undefined;

  readonly #context: ConnectionContext;
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #group: TimerGroup;
  readonly #timers: Record<CutReason, TimerId | undefined> = {
    connect: undefined,
    idle: undefined,
    request: undefined,
    drain: undefined,
  };
  #openSockets = 2;
  #aborted = false;

  /** @param number the connection's number, and the hint of its timers */
  constructor(number: number, client: Socket, upstream: Socket, context: ConnectionContext) {
    this.number = number;
    this.clientPort = client.remotePort;
    this.#context = context;
    this.#group = context.scheduler.group(number);
    this.#client = client;
    this.#upstream = upstream;
    for (const socket of [client, upstream]) {
      socket.on('error', (error) => this.#fail(error));
      socket.once('close', () => this.#noteClosed());
    }
    upstream.once('connect', () => this.#open());
    this.#arm('connect');
  }

  /** Gives the connection the drain timeout to end by itself. */
  drain(): void {
    if (this.#timers.drain !== undefined) return;
    this.#disarm('idle');
    this.#disarm('request');
    this.#arm('drain');
  }

  cut(reason: CutReason): void {
    this.outcome = reason;
    this.#abort();
  }

  #open(): void {
    this.#disarm('connect');
    this.#stir();
    this.#pump(this.#client, this.#upstream, (length) => {
      this.bytesUp += length;
      if (!this.#draining) this.#arm('request');
    });
    this.#pump(this.#upstream, this.#client, (length) => {
      this.bytesDown += length;
      this.#disarm('request');
    });
    this.#client.resume(); // accepted with pauseOnConnect
  }

  #pump(from: Socket, to: Socket, onChunk: (length: number) => void): void {
    from.on('data', (chunk) => {
      this.#stir();
      onChunk(chunk.length);
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      this.#stir(); // a slow reader has read: that too is a sign of life
      from.resume();
    });
    from.once('end', () => {
      to.end();
      this.drain();
    });
  }

  #stir(): void {
    if (!this.#draining) this.#arm('idle');
  }

  get #draining(): boolean {
    return this.#timers.drain !== undefined;
  }

  /** Starts the timer, or moves it if it runs. A connection whose timer finds no room fails: none goes unwatched. */
  #arm(reason: CutReason): void {
    if (this.#aborted) return;
    const { scheduler, timeouts } = this.#context;
    const id = this.#timers[reason];
    try {
      if (id !== undefined && scheduler.rescheduleAfter(id, timeouts[reason])) return;
      this.#timers[reason] = this.#group.scheduleAfter(timeouts[reason], cutBy[reason], this);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #disarm(reason: CutReason): void {
    const id = this.#timers[reason];
    if (id === undefined) return;
    this.#context.scheduler.cancel(id);
    this.#timers[reason] = undefined;
  }

  #fail(error: Error): void {
    if (this.outcome !== 'served') return; // a cut, or an earlier failure, explains this one
    this.outcome = 'failed';
    this.error = error;
    this.#abort();
  }

  #abort(): void {
    this.#aborted = true;
    this.#group.cancelAll();
    reset(this.#client);
    reset(this.#upstream);
  }

  #noteClosed(): void {
    this.#openSockets -= 1;
    if (this.#openSockets > 0) return;
    this.#group.cancelAll();
    this.#context.onEnd(this);
  }
}

function reset(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket.connecting) return void socket.destroy(); // resetAndDestroy would wait for the handshake
  socket.resetAndDestroy();
}
