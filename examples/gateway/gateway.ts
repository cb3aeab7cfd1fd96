import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { type Scheduler, TimeoutError } from 'shardwheel';

export interface GatewayOptions {
  readonly scheduler: Scheduler;
  readonly upstream: string;
  /** ms that a request may take, all its tries together. */
  readonly deadline: number;
  /** ms that a connection may be idle. */
  readonly idle: number;
  /** Tries of a request that the upstream refuses. */
  readonly tries: number;
}

/**
 * An HTTP gateway. Each request has a deadline, which also ends its exchange with the upstream; an answer of 503 is asked for again,
 * after a pause that doubles. Each connection has an idle timeout, one timer that its requests move.
 */
export class Gateway {
  readonly app: FastifyInstance;
  /** Requests to the upstream that were asked again. */
  retried = 0;
  /** Connections cut for being idle. */
  cut = 0;
  private readonly options: GatewayOptions;
  private readonly idleTimers = new Map<Socket, number>();
  private connections = 0;

  constructor(options: GatewayOptions) {
    this.options = options;
    this.app = Fastify({ keepAliveTimeout: 0, forceCloseConnections: true });
    this.app.server.on('connection', (socket: Socket) => this.accept(socket));
    this.app.addHook('onRequest', async ({ raw }) => this.move(raw.socket, options.idle + options.deadline));
    this.app.addHook('onResponse', async ({ raw }) => this.move(raw.socket, options.idle));
    this.app.get('/*', async ({ url }, reply) => {
      try {
        const { status, text } = await options.scheduler.withTimeout(
          (signal) => this.ask(url, signal),
          options.deadline,
        );
        return await reply.code(status).send(text);
      } catch (error) {
        return reply.code(error instanceof TimeoutError ? 504 : 502).send(`${(error as Error).message}\n`);
      }
    });
  }

  /** Returns its URL. */
  async listen(): Promise<string> {
    await this.app.listen({ host: '127.0.0.1', port: 0 });
    return `http://127.0.0.1:${(this.app.server.address() as AddressInfo).port}`;
  }

  /** Ends all connections, and with them their timers: after this the scheduler can be closed. */
  async close(): Promise<void> {
    await this.app.close();
    const sockets = [...this.idleTimers.keys()]; // they emit 'close' after their server does
    await Promise.all(sockets.map((socket) => once(socket, 'close')));
  }

  private async ask(path: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
    const { scheduler, upstream, tries } = this.options;
    for (let tried = 1; ; tried++) {
      const response = await fetch(`${upstream}${path}`, { signal });
      const text = await response.text();
      if (response.status !== 503 || tried === tries) return { status: response.status, text };
      this.retried += 1;
      await new Promise<void>((resolve) => scheduler.scheduleAfter(path, 20 * 2 ** tried, () => resolve()));
      signal.throwIfAborted();
    }
  }

  private accept(socket: Socket): void {
    const { scheduler, idle } = this.options;
    this.connections += 1;
    const timer = scheduler.scheduleAfter(this.connections, idle, this.cutIdle, socket);
    this.idleTimers.set(socket, timer);
    socket.once('close', () => {
      scheduler.cancel(timer);
      this.idleTimers.delete(socket);
    });
  }

  private readonly cutIdle = (socket: Socket): void => {
    this.cut += 1;
    socket.destroy();
  };

  private move(socket: Socket, delay: number): void {
    const timer = this.idleTimers.get(socket);
    if (timer !== undefined) this.options.scheduler.rescheduleAfter(timer, delay);
  }
}
