import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { TLSSocket, type TLSSocketOptions } from 'node:tls';
import type { Scheduler } from 'shardwheel';
import {
  type SocketTimeoutError,
  type SocketTimeoutOptions,
  type SocketTimeouts,
  socketTimeouts,
} from 'shardwheel/net';

export type CutReason = SocketTimeoutError['kind'];

/**
 * ms each; `secure` where clients speak TLS; `drain`: for all connections, once the proxy is closed. See
 * docs/proxies.md.
 */
export type ProxyTimeouts = Readonly<Record<Exclude<CutReason, 'secure'>, number> & { secure?: number }>;

export type Outcome = 'served' | 'failed' | CutReason;

export interface ProxyOptions {
  /** May be shared with other proxies. Outlives them: close the proxy first, then its scheduler. */
  scheduler: Scheduler;
  upstreamPort: number;
  timeouts: ProxyTimeouts;
  /** Has clients speak TLS; the upstream does not. Default: nobody does. */
  tls?: TLSSocketOptions;
  /** Default 0: any free port. */
  port?: number;
  /** Lets others listen on the same port: see port-sharing.ts. Default false. */
  reusePort?: boolean;
  /** Connections served at a time; the next is closed as soon as it is accepted. Default 10,000. */
  maxConnections?: number;
  onAccept?: (start: ConnectionStart) => void;
  onEnd?: (end: ConnectionEnd) => void;
}

export interface ConnectionStart {
  /** Of those that this proxy has accepted: 1, 2, 3 … */
  number: number;
  clientPort: number | undefined;
  /** Date.now() */
  acceptedAt: number;
}

export interface ConnectionEnd extends ConnectionStart {
  outcome: Outcome;
  error: Error | undefined;
}

/**
 * Listens on 127.0.0.1 and ties every client to a connection of its own to the upstream. A side is read only while the
 * other takes what is written. A FIN is passed on as a FIN, and the other direction goes on. A cut resets both sides,
 * so that nobody takes half an answer for a whole one.
 */
export class TcpProxy {
  readonly port: number;
  accepted = 0;

  readonly #options: ProxyOptions;
  readonly #server: Server;
  readonly #timeouts: SocketTimeouts;
  /** By the client's socket: those that have not ended. */
  readonly #connections = new Map<unknown, ConnectionEnd>();

  private constructor(options: ProxyOptions, server: Server) {
    const { drain: _, ...limits } = options.timeouts;
    this.#options = options;
    this.#timeouts = socketTimeouts(options.scheduler, { ...limits, onTimeout: this.#noteCut });
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.maxConnections = options.maxConnections ?? 10_000;
    const { tls } = options;
    server.on('connection', (socket: Socket) => {
      this.#accept(tls === undefined ? socket : new TLSSocket(socket, { ...tls, isServer: true }));
    });
  }

  static async listen(options: ProxyOptions): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const { port = 0, reusePort = false } = options;
    const listening: ListenOptions & { reusePort: boolean } = { port, host: '127.0.0.1', backlog: 1024, reusePort };
    server.listen(listening);
    await once(server, 'listening');
    return new TcpProxy(options, server);
  }

  /** Connections that have not ended. */
  get live(): number {
    return this.#connections.size;
  }

  /**
   * Accepts no more, ends what is idle, and cuts at the drain timeout what is left. Called again, it waits for the
   * same.
   */
  async close(): Promise<void> {
    await this.#timeouts.drain(this.#options.timeouts.drain, this.#server);
    while (this.live > 0) await new Promise(setImmediate); // sockets are closed a little after they are destroyed
  }

  #accept(client: Socket): void {
    const { upstreamPort } = this.#options;
    const upstream = connect({ port: upstreamPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.accepted += 1;
    const start = { number: this.accepted, clientPort: client.remotePort, acceptedAt: Date.now() };
    const end: ConnectionEnd = { ...start, outcome: 'served', error: undefined };
    this.#connections.set(client, end);
    this.#options.onAccept?.(start);
    let open = 2;
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.pipe(to);
      from.on('error', (error) => {
        if (end.outcome === 'served') Object.assign(end, { outcome: 'failed', error });
        if (!to.destroyed) reset(to);
      });
      from.on('close', () => {
        open -= 1;
        // it was destroyed, and no FIN has come for the other side
        if (!from.readableEnded && !to.destroyed) to.destroySoon();
        if (open > 0) return;
        this.#connections.delete(client);
        this.#options.onEnd?.(end);
      });
    }
    this.#timeouts.watch(client, upstream);
  }

  readonly #noteCut: SocketTimeoutOptions['onTimeout'] = (kind, { socket, upstream }) => {
    const end = this.#connections.get(socket);
    if (end !== undefined) end.outcome = kind;
    for (const side of [socket, upstream] as Socket[]) if (!side.destroyed) reset(side);
  };
}

function reset(socket: Socket): void {
  // resetAndDestroy would wait for the handshake, or throw
  const canReset = !socket.connecting && !(socket instanceof TLSSocket);
  if (!canReset) return void socket.destroy();
  socket.resetAndDestroy();
}
