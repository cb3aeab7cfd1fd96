import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import type { Scheduler } from 'shardwheel';
import {
  type ConnectionContext,
  type CutReason,
  type Outcome,
  ProxyConnection,
  type ProxyTimeouts,
} from './proxy-connection.ts';

export interface ProxyOptions {
  /** May be shared with other proxies. Outlives them: close the proxy first, then its scheduler. */
  scheduler: Scheduler;
  upstreamPort: number;
  timeouts: ProxyTimeouts;
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

export interface ProxyCounters {
  accepted: number;
  /** over maxConnections */
  refused: number;
  served: number;
  failed: number;
  cut: Record<CutReason, number>;
  bytesUp: number;
  bytesDown: number;
}

/** Listens on 127.0.0.1 and ties every client to a connection of its own to the upstream: see ProxyConnection. */
export class TcpProxy {
  readonly port: number;
  readonly counters: ProxyCounters = {
    accepted: 0,
    refused: 0,
    served: 0,
    failed: 0,
    cut: { connect: 0, idle: 0, request: 0, drain: 0 },
    bytesUp: 0,
    bytesDown: 0,
  };

  readonly #options: ProxyOptions;
  readonly #context: ConnectionContext;
  readonly #server: Server;
  readonly #connections = new Set<ProxyConnection>();
  #closed: Promise<void> | undefined;
  #onEmpty: () => void = () => {};

  private constructor(options: ProxyOptions, server: Server) {
    this.#options = options;
    this.#context = {
      scheduler: options.scheduler,
      timeouts: options.timeouts,
      onEnd: (connection) => this.#noteEnd(connection),
    };
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.maxConnections = options.maxConnections ?? 10_000;
    server.on('connection', (client) => this.#accept(client));
    server.on('drop', () => {
      this.counters.refused += 1;
    });
  }

  static async listen(options: ProxyOptions): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
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

  /** Accepts no more, gives every live connection the drain timeout to end by itself, and cuts the rest. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#drain();
    return this.#closed;
  }

  async #drain(): Promise<void> {
    const serverClosed = once(this.#server, 'close');
    this.#server.close();
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    for (const connection of this.#connections) connection.drain();
    if (this.#connections.size > 0) await empty;
    await serverClosed;
  }

  #accept(client: Socket): void {
    const { upstreamPort } = this.#options;
    const upstream = connect({ port: upstreamPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.counters.accepted += 1;
    const connection = new ProxyConnection(this.counters.accepted, client, upstream, this.#context);
    this.#connections.add(connection);
    this.#options.onAccept?.(connection);
  }

  #noteEnd(connection: ProxyConnection): void {
    const { number, clientPort, acceptedAt, outcome, error } = connection;
    const { counters } = this;
    if (outcome === 'served' || outcome === 'failed') counters[outcome] += 1;
    else counters.cut[outcome] += 1;
    counters.bytesUp += connection.bytesUp;
    counters.bytesDown += connection.bytesDown;
    this.#options.onEnd?.({ number, clientPort, acceptedAt, outcome, error });
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#onEmpty();
  }
}
