import type { Scheduler } from '../../scheduler/scheduler.ts';
import { closeAllConnections, type DrainableServer, stopAccepting } from './drainable-server.ts';
import { HttpLook } from './http-look.ts';
import type { WatchedConnection } from './watched-connection.ts';

/** How the connections of a drain have ended. */
export interface DrainResult {
  /** By themselves, as they were idle, or as another process has them. */
  readonly closed: number;
  /** At the deadline. */
  readonly cut: number;
}

/** ms without a byte after which a socket is idle, and after which all are looked at again. */
const QUIET_MS = 250;

/**
 * The end of all connections:
 *
 *     stop accepting ─▶ end what is idle ─▶ again, each quarter of a second ─▶ nothing is left
 *                                                                           ─▶ the deadline has come: cut the rest
 *
 * Connections that come meanwhile, from a server that is not told, are treated alike.
 */
export class Drain {
  private readonly scheduler: Scheduler;
  private readonly connections: ReadonlySet<WatchedConnection>;
  private readonly servers = new Set<DrainableServer>();
  private readonly begun: number;
  private deadline: number;
  private ends = 0;
  private cuts = 0;
  private nap: AbortController | undefined;
  private result: Promise<DrainResult> | undefined;

  /** `within`: ms, or Infinity. */
  constructor(scheduler: Scheduler, connections: ReadonlySet<WatchedConnection>, within: number) {
    this.scheduler = scheduler;
    this.connections = connections;
    this.begun = scheduler.now();
    this.deadline = this.begun + within;
  }

  /** Closes a server too. */
  close(server: DrainableServer): void {
    if (this.servers.has(server)) return;
    this.servers.add(server);
    stopAccepting(server, () => {
      this.servers.delete(server);
      this.wake();
    });
  }

  /** Ends within so many ms, if that is sooner. */
  shorten(within: number): void {
    this.deadline = Math.min(this.deadline, this.scheduler.now() + within);
    this.wake();
  }

  /** Called when a connection has ended. */
  ended(): void {
    this.ends += 1;
    if (this.connections.size === 0) this.wake();
  }

  /** Resolves when nothing is left. Rejects with SchedulerClosedError. */
  run(): Promise<DrainResult> {
    this.result ??= this.endAll();
    return this.result;
  }

  private async endAll(): Promise<DrainResult> {
    this.endIdle();
    while (this.connections.size > 0 || this.servers.size > 0) {
      const left = this.deadline - this.scheduler.now();
      if (left <= 0) {
        this.cutRest();
        break;
      }
      await this.sleep(Math.min(QUIET_MS, left));
      this.endIdle();
    }
    return { closed: this.ends - this.cuts, cut: this.cuts };
  }

  private endIdle(): void {
    const http = new HttpLook();
    for (const connection of [...this.connections]) {
      const { socket, upstream } = connection;
      const quiet = http.quietOf(socket, QUIET_MS);
      const upstreamQuiet = upstream === undefined ? 0 : http.quietOf(upstream, QUIET_MS);
      connection.endIfIdleFor(Math.max(quiet, upstreamQuiet));
    }
    const isWriting = () => [...this.connections].some((connection) => connection.isWriting);
    for (const server of this.servers) http.endIdleOf(server, isWriting);
  }

  private cutRest(): void {
    const within = this.deadline - this.begun;
    const thrown: unknown[] = [];
    for (const connection of [...this.connections]) {
      if (connection.releaseIfHandedOver()) continue;
      if (connection.hasEnded) {
        connection.release();
        continue;
      }
      this.cuts += 1;
      try {
        connection.cut('drain', within);
      } catch (error) {
        thrown.push(error); // by onTimeout
      }
    }
    for (const server of this.servers) closeAllConnections(server);
    if (thrown.length > 0) throw thrown[0];
  }

  /** Sleeps until it is woken, or for so many ms. */
  private async sleep(time: number): Promise<void> {
    const nap = new AbortController();
    this.nap = nap;
    try {
      await this.scheduler.sleep(time, { signal: nap.signal });
    } catch (error) {
      if (!nap.signal.aborted) throw error;
    }
  }

  private wake(): void {
    this.nap?.abort();
  }
}
