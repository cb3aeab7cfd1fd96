import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ConnectionEnd, ProxyOptions } from '../../examples/tcp-proxy/proxy.ts';

/** The proxy of the example without its limits: what they cost is the difference. */
export class UnlimitedProxy {
  readonly port: number;
  readonly #options: ProxyOptions;
  readonly #server: Server;
  #accepted = 0;
  #live = 0;

  private constructor(options: ProxyOptions, server: Server) {
    const { tls } = options;
    this.#options = options;
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket: Socket) => {
      this.#accept(tls === undefined ? socket : new TLSSocket(socket, { ...tls, isServer: true }));
    });
  }

  static async listen(options: ProxyOptions): Promise<UnlimitedProxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const { port = 0, reusePort = false } = options;
    const listening: ListenOptions & { reusePort: boolean } = { port, host: '127.0.0.1', backlog: 1024, reusePort };
    server.listen(listening);
    await once(server, 'listening');
    return new UnlimitedProxy(options, server);
  }

  /** Resolves when all connections have ended by themselves. */
  async close(): Promise<void> {
    this.#server.close();
    while (this.#live > 0) await new Promise(setImmediate);
  }

  #accept(client: Socket): void {
    const { upstreamPort } = this.#options;
    const upstream = connect({ port: upstreamPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.#accepted += 1;
    this.#live += 1;
    const start = { number: this.#accepted, clientPort: client.remotePort, acceptedAt: Date.now() };
    const end: ConnectionEnd = { ...start, outcome: 'served', error: undefined };
    this.#options.onAccept?.(start);
    let open = 2;
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.pipe(to);
      from.on('error', (error) => {
        if (end.outcome === 'served') Object.assign(end, { outcome: 'failed', error });
        to.destroy();
      });
      from.on('close', () => {
        open -= 1;
        if (!from.readableEnded && !to.destroyed) to.destroySoon();
        if (open > 0) return;
        this.#live -= 1;
        this.#options.onEnd?.(end);
      });
    }
  }
}
