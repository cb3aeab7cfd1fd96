import type { Http2Server, Http2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import Fastify from 'fastify';
import { type Scheduler, TimeoutError } from 'shardwheel';
import { type DrainResult, type SocketTimeouts, socketTimeouts } from 'shardwheel/net';

export interface GatewayOptions {
  readonly scheduler: Scheduler;
  readonly upstream: string;
  /** ms that a request may take, all its tries together. */
  readonly deadline: number;
  /** ms for a request's headers to arrive, to the second. Of HTTP/1, by Node. */
  readonly headers: number;
  /** ms that a connection may be idle: between two requests, and while its client neither sends nor takes. */
  readonly idle: number;
  /** ms that a connection may last. */
  readonly lifetime: number;
  /** Tries of a request that the upstream refuses. */
  readonly tries: number;
}

/** Of both versions of HTTP. */
interface Request {
  readonly url: string;
}
interface Reply {
  readonly raw: { once(event: 'close', listener: () => void): unknown; readonly writableFinished: boolean };
  code(status: number): { send(text: string): unknown };
}

/**
 * A gateway for HTTP/1 and HTTP/2. What Node has is left to it: time for headers and requests. What it lacks is here:
 * each request has a deadline, which also ends its exchange with the upstream, as does a client that is gone; each
 * connection, and each session, has an idle limit and a lifetime; the end of all is a drain. An answer of 503 is asked
 * for again, after a pause that doubles.
 */
export class Gateway {
  /** Requests to the upstream that were asked again, and that were given up as their client was gone. */
  retried = 0;
  abandoned = 0;
  private readonly options: GatewayOptions;
  private readonly timeouts: SocketTimeouts;
  private readonly app;
  private readonly app2;

  constructor(options: GatewayOptions) {
    const { headers, idle, lifetime, deadline } = options;
    this.options = options;
    this.timeouts = socketTimeouts(options.scheduler, { idle, lifetime });
    // Node looks at the times of requests each 30 s, unless it is told otherwise.
    const http = { connectionsCheckingInterval: 1_000, headersTimeout: headers, requestTimeout: headers + deadline };
    this.app = Fastify({ http, keepAliveTimeout: 0 });
    this.app2 = Fastify({ http2: true });
    this.app.get('/*', (request, reply) => this.answer(request, reply));
    this.app2.get('/*', (request, reply) => this.answer(request, reply));
    this.app.server.on('connection', (socket: Socket) => this.timeouts.watch(socket));
    this.app2.server.on('session', (session: Http2Session) => {
      session.on('error', () => undefined); // it was cut
      this.timeouts.watch(session);
    });
  }

  get counts(): SocketTimeouts['counts'] {
    return this.timeouts.counts;
  }

  /** Returns the URLs, of HTTP/1 and of HTTP/2. */
  async listen(): Promise<[string, string]> {
    const listening = { host: '127.0.0.1', port: 0 };
    await Promise.all([this.app.listen(listening), this.app2.listen(listening)]);
    const urlOf = (address: unknown) => `http://127.0.0.1:${(address as AddressInfo).port}`;
    return [urlOf(this.app.server.address()), urlOf(this.app2.server.address())];
  }

  /**
   * Answers what is under way, for so many ms at most, and ends all connections; after this the scheduler can be
   * closed.
   */
  async drain(within: number): Promise<DrainResult> {
    const [result] = await Promise.all([
      this.timeouts.drain(within, this.app.server),
      this.timeouts.drain(within, this.app2.server as Http2Server),
    ]);
    await Promise.all([this.app.close(), this.app2.close()]);
    return result;
  }

  private async answer({ url }: Request, reply: Reply): Promise<unknown> {
    const gone = new AbortController();
    reply.raw.once('close', () => {
      if (reply.raw.writableFinished) return;
      this.abandoned += 1;
      gone.abort();
    });
    const { scheduler, deadline } = this.options;
    try {
      const asked = (signal: AbortSignal) => this.ask(url, signal);
      const { status, text } = await scheduler.withTimeout(asked, deadline, { signal: gone.signal });
      return reply.code(status).send(text);
    } catch (error) {
      return reply.code(error instanceof TimeoutError ? 504 : 502).send(`${(error as Error).message}\n`);
    }
  }

  private async ask(path: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
    const { scheduler, upstream, tries } = this.options;
    for (let tried = 1; ; tried++) {
      const response = await fetch(`${upstream}${path}`, { signal });
      const text = await response.text();
      if (response.status !== 503 || tried === tries) return { status: response.status, text };
      this.retried += 1;
      await scheduler.sleep(20 * 2 ** tried, { signal });
    }
  }
}
