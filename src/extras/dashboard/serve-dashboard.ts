import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { outsideContexts } from '../../async-context/async-context.ts';
import { SchedulerClosedError } from '../../errors.ts';
import { LATENESS_BOUNDS } from '../../metrics/lateness-histogram.ts';
import { requireScheduler } from '../../own-copy.ts';
import { process } from '../../process.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { clearTimeout, setTimeout } from '../../time/native-timers.ts';
import { type Access, accessBy, type Refusal } from './access.ts';
import { Connections } from './connections.ts';
import { EventStreams, MAX_STREAMS } from './event-streams.ts';
import { type Farewell, type Hello, PROTOCOL } from './messages.ts';
import {
  DashboardError,
  type DashboardOptions,
  isListeningDenied,
  type ResolvedDashboardOptions,
  resolveDashboardOptions,
} from './options.ts';
import { packageVersion, readPage } from './page-file.ts';
import { SAMPLE_INTERVAL_MS, Sampling, SHOWN } from './sampling.ts';

/**
 * Maximum of connections at a time that are served: all streams, and pages that are being loaded. Further ones get a
 * refusal.
 */
const MAX_ANSWERED = 2 * MAX_STREAMS;
/** Maximum of connections at a time: further ones are closed at once, without an answer. */
const MAX_CONNECTIONS = 4 * MAX_ANSWERED;
/** Connections that may wait in the system for one turn of the event loop. */
const BACKLOG = 64;
/** ms for the last events to be sent. */
const FAREWELL_MS = 250;

const FULL = `This dashboard is watched by as many as it serves at a time, which are ${MAX_STREAMS}.`;

const headers = {
  Connection: 'close',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

export interface Dashboard {
  /** The page's address, without the token. */
  readonly url: string;
  /** Ends all streams with a last event, and frees the port. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves a page that shows the scheduler at work, and its events for `npx shardwheel watch`. It does not keep the
 * process alive, and ends with its scheduler. While a page or terminal is open, each second takes some 0.4 ms of this
 * event loop, some µs of each shard, and a wake of each other client's event loop; otherwise it asks the scheduler for
 * nothing. A scheduler has one dashboard at a time.
 * @throws InvalidArgumentError, InvalidConfigError, SchedulerClosedError, DashboardError, and MissingFileError where
 * the page's files are not found, as in a bundle; by rejection.
 */
export async function serveDashboard(scheduler: Scheduler, options?: DashboardOptions): Promise<Dashboard> {
  requireScheduler(scheduler);
  const resolved = resolveDashboardOptions(options);
  if (scheduler.isClosed) throw new SchedulerClosedError('serveDashboard');
  const other = dashboards.get(scheduler);
  if (other !== undefined) throw DashboardError.twice(other.url);
  const served = outsideContexts(() => new ServedDashboard(scheduler, resolved));
  dashboards.set(scheduler, served);
  let url: string;
  try {
    url = await served.listen();
  } catch (error) {
    await served.close();
    throw error;
  }
  served.endWithScheduler();
  return { url, close: () => served.close() };
}

const dashboards = new WeakMap<Scheduler, ServedDashboard>();

class ServedDashboard {
  private readonly scheduler: Scheduler;
  private readonly options: ResolvedDashboardOptions;
  private readonly page = readPage();
  private readonly version = packageVersion();
  private readonly access: Access;
  private readonly streams: EventStreams;
  private readonly sampling: Sampling;
  private readonly server: Server;
  private ended: Promise<void> | undefined;
  private dropping: NodeJS.Timeout | undefined;
  private readonly connections = new Connections();

  constructor(scheduler: Scheduler, options: ResolvedDashboardOptions) {
    this.scheduler = scheduler;
    this.options = options;
    this.access = accessBy(options);
    this.streams = new EventStreams((isWatched) => (isWatched ? this.sampling.start() : this.sampling.stop()));
    this.sampling = new Sampling(scheduler, this.streams, options.durable);
    this.server = process
      .getBuiltinModule('node:http')
      .createServer({ maxHeaderSize: 8192 }, (request, response) => this.answer(request, response));
    this.server.maxConnections = MAX_CONNECTIONS;
    this.server.on('connection', (socket) => this.connections.add(socket));
  }

  /** Undefined before it listens. */
  get url(): string | undefined {
    const bound = this.server.address() as AddressInfo | null;
    if (bound === null) return undefined;
    const { address, family, port } = bound;
    const isAny = address === '0.0.0.0' || address === '::';
    const host = isAny ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
    return `http://${host}:${port}/`;
  }

  /** Listens, and holds the process meanwhile. Resolves with the address. */
  async listen(): Promise<string> {
    const { host, port } = this.options;
    const { server } = this;
    if (isListeningDenied()) throw DashboardError.denied(host, port);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(DashboardError.notListening(host, port, error)));
      server.listen({ host, port, backlog: BACKLOG }, resolve);
    });
    server.removeAllListeners('error');
    server.on('error', () => undefined); // a connection that cannot be accepted, for lack of descriptors: others can
    server.unref();
    return this.url as string;
  }

  /** It may have been closed before the dashboard listened. */
  endWithScheduler(): void {
    if (this.scheduler.isClosed) this.schedulerClosed();
    else this.scheduler.once('close', this.schedulerClosed);
  }

  private readonly schedulerClosed = (): void => this.end('The scheduler was closed.');

  /** Ends all streams with the reason. Keeps no process alive. */
  private end(reason: string): void {
    this.ended ??= this.shutDown(JSON.stringify({ reason } satisfies Farewell));
  }

  close(): Promise<void> {
    this.end('The dashboard was closed.');
    this.dropping?.ref();
    return this.ended as Promise<void>;
  }

  private shutDown(ending: string): Promise<void> {
    this.sampling.end();
    this.streams.end('end', ending);
    this.scheduler.off('close', this.schedulerClosed);
    dashboards.delete(this.scheduler);
    return new Promise((resolve) => {
      this.server.close(() => {
        clearTimeout(this.dropping);
        resolve();
      });
      this.server.closeIdleConnections();
      outsideContexts(() => {
        this.dropping = setTimeout(() => this.server.closeAllConnections(), FAREWELL_MS).unref();
      });
    });
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    if (response.socket === null) return; // pipelined behind an answer that ends the connection
    this.connections.answer(request.socket);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.setHeader('Content-Security-Policy', this.page.policy);
    const refusal = this.tryToAnswer(request, response);
    if (refusal === undefined) return;
    response.writeHead(refusal.status, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end(`${refusal.why}\n`);
  }

  private tryToAnswer(request: IncomingMessage, response: ServerResponse): Refusal | undefined {
    if (this.connections.count > MAX_ANSWERED) return { status: 503, why: FULL };
    const { method, url: target = '' } = request;
    const address = `http://localhost${target}`;
    if (!target.startsWith('/') || !URL.canParse(address))
      return { status: 400, why: 'This is not the path of a page.' };
    const url = new URL(address);
    const path = url.pathname.replace(/^\/+/, '/'); // a proxy that takes off /timers makes // of /timers/
    const verdict = this.access(request, path, url.searchParams);
    if (verdict !== undefined && 'status' in verdict) return verdict;
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, why: 'The dashboard is only for reading.' };
    if (verdict !== undefined) {
      response.writeHead(303, { Location: '?', 'Set-Cookie': verdict.cookie }).end();
    } else if (path === '/events') {
      if (this.streams.count >= MAX_STREAMS) return { status: 503, why: FULL };
      if (method === 'HEAD') response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' }).end();
      else this.openStream(request.socket, response, url);
    } else if (path === '/') {
      const { body } = this.page;
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Length': body.length }).end(body);
    } else {
      return { status: 404, why: 'There is nothing here. The dashboard is at /.' };
    }
    return undefined;
  }

  private openStream(socket: Socket, response: ServerResponse, url: URL): void {
    const shards = Math.max(1, this.scheduler.shards);
    const wanted = Math.trunc(Number(url.searchParams.get('from') ?? 0)) || 0;
    const from = Math.floor(Math.max(0, Math.min(wanted, shards - 1)) / SHOWN) * SHOWN;
    const hello: Hello = {
      protocol: PROTOCOL,
      version: this.version,
      node: process.version,
      pid: process.pid,
      interval: SAMPLE_INTERVAL_MS,
      shards,
      from,
      shown: SHOWN,
      bounds: LATENESS_BOUNDS.slice(0, -1),
      points: this.sampling.points,
    };
    this.connections.release(socket);
    this.streams.add({ response, from }, JSON.stringify(hello));
  }
}
