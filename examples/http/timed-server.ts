import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Scheduler, TimerGroup } from 'shardwheel';

export interface TimedServerOptions {
  scheduler: Scheduler;
  /** from the connection to the last byte of its first request's headers; ms */
  headers: number;
  /** from an answer to the headers of the next request; ms */
  keepAlive: number;
}

/** One connection: waits for headers, or answers. Invariant: the group holds one timer while it waits, none while it answers. */
class Connection {
  readonly #socket: Socket;
  readonly #group: TimerGroup;
  readonly #keepAlive: number;
  #answering = 0;

  constructor(socket: Socket, hint: number, { scheduler, headers, keepAlive }: TimedServerOptions) {
    this.#socket = socket;
    this.#group = scheduler.group(hint);
    this.#keepAlive = keepAlive;
    this.#group.scheduleAfter(headers, refuse, socket);
    socket.once('close', () => this.#group.cancelAll());
  }

  answer(response: ServerResponse): void {
    this.#answering += 1;
    this.#group.cancelAll();
    response.once('close', () => {
      this.#answering -= 1;
      if (this.#answering === 0 && !this.#socket.destroyed)
        this.#group.scheduleAfter(this.#keepAlive, close, this.#socket);
    });
  }
}

const refuse = (socket: Socket): void => {
  socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
};
const close = (socket: Socket): void => {
  socket.destroy();
};

/** An HTTP server on 127.0.0.1 whose header and keep-alive timeouts are on a scheduler; Node's own are switched off. */
export class TimedServer {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async listen(listener: RequestListener, options: TimedServerOptions): Promise<TimedServer> {
    const connections = new WeakMap<Socket, Connection>();
    let count = 0;
    const off = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0, connectionsCheckingInterval: 2 ** 31 - 1 };
    const server = createServer(off, (request, response) => {
      connections.get(request.socket)?.answer(response);
      listener(request, response);
    });
    server.on('connection', (socket) => {
      count += 1;
      connections.set(socket, new Connection(socket, count, options));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TimedServer(server);
  }

  /** Closes all connections, too. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
