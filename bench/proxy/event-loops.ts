import { Acceptor } from '../../examples/tcp-proxy/acceptor.ts';
import type { ConnectionCounts, ConnectionRecord } from './connection-journal.ts';
import { addCounts, EventLoop, type ServiceSetup, type ThreadReport } from './event-loop.ts';
import { byRoute, type Route, routes } from './plans.ts';

/** A thread that was killed: Date.now() before, and when it was gone. */
export interface Kill {
  thread: number;
  from: number;
  to: number;
}

const anyPort = byRoute(() => 0);

/** The threads that serve connections, on one port for each route, and what they have seen. */
export class EventLoops implements AsyncDisposable {
  readonly kills: Kill[] = [];
  /** Of threads that have ended. */
  readonly records = byRoute((): ConnectionRecord[] => []);
  /** Rejects if a thread ends that was not told to. */
  readonly failed: Promise<never>;

  readonly #setup: ServiceSetup;
  readonly #capacity: number;
  readonly #sharesPort: boolean;
  /** Those whose records are not filed. */
  readonly #all: EventLoop[] = [];
  /** Those that listen; the one that has for longest first. */
  readonly #serving: { readonly loop: EventLoop; readonly ports: Record<Route, number> }[] = [];
  readonly #ended: ConnectionCounts = { accepted: 0, ended: 0, cut: 0 };
  readonly #acceptors: Acceptor[] = [];
  #ports = anyPort;
  #turn = 0;
  #fail!: (error: unknown) => void;

  /**
   * @param capacity most connections of a thread and a route
   * @param sharesPort whether threads can listen on one port: else an acceptor tells clients the port of each in turn
   */
  constructor(setup: ServiceSetup, capacity: number, sharesPort: boolean) {
    this.#setup = setup;
    this.#capacity = capacity;
    this.#sharesPort = sharesPort;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {}); // told to whoever waits
  }

  /** Of the threads, or of the acceptor. */
  get ports(): Record<Route, number> {
    return this.#ports;
  }

  get asksForPort(): boolean {
    return this.#acceptors.length > 0;
  }

  async start(threads: number): Promise<void> {
    const { ports } = await this.#startOne(); // the system chooses its ports
    if (this.#sharesPort || threads === 1) this.#ports = ports;
    await Promise.all(Array.from({ length: threads - 1 }, () => this.#startOne()));
    if (this.#sharesPort || threads === 1) return;
    const asked = { ...anyPort };
    for (const route of routes) {
      const acceptor = await Acceptor.listen(() => this.#nextPort(route));
      this.#acceptors.push(acceptor);
      asked[route] = acceptor.port;
    }
    this.#ports = asked;
  }

  /** Ends the thread that has served for longest, in the midst of its work, and starts another in its place. */
  async killOne(): Promise<void> {
    const { loop } = this.#serving.shift()!;
    const from = Date.now();
    await loop.kill();
    this.kills.push({ thread: loop.threadId, from, to: Date.now() });
    this.#file(loop, 'lost');
    await this.#startOne();
  }

  /** Connections of all threads; those that ended with theirs count as ended. */
  counts(): ConnectionCounts {
    const sum = { ...this.#ended };
    for (const loop of this.#all) addCounts(sum, loop.counts());
    return sum;
  }

  /** The busy share of each event loop, since it was last asked. */
  utilization(): number[] {
    return this.#serving.map(({ loop }) => loop.utilization());
  }

  /** Lets the connections end, then the threads, each of which says how it went. */
  async stop(): Promise<ThreadReport[]> {
    const stopped = await Promise.all(this.#serving.map(({ loop }) => loop.stop()));
    for (const { loop } of this.#serving.splice(0)) this.#file(loop, 'open');
    return stopped;
  }

  /** Ends whatever still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#acceptors.map((acceptor) => acceptor.close()));
    await Promise.all(this.#all.map((loop) => loop.kill()));
  }

  async #startOne(): Promise<{ loop: EventLoop; ports: Record<Route, number> }> {
    const ports = this.#sharesPort ? this.#ports : anyPort;
    const reusePort = this.#sharesPort;
    const loop = new EventLoop({ ...this.#setup, ports, reusePort }, this.#capacity);
    this.#all.push(loop);
    loop.failed.catch(this.#fail);
    const serving = { loop, ports: await loop.ready };
    this.#serving.push(serving);
    return serving;
  }

  #nextPort(route: Route): number {
    this.#turn += 1;
    return this.#serving[this.#turn % this.#serving.length]!.ports[route];
  }

  /** @param left what has become of connections that have not ended */
  #file(loop: EventLoop, left: 'open' | 'lost'): void {
    const { accepted, cut } = loop.counts();
    addCounts(this.#ended, { accepted, ended: accepted, cut });
    for (const route of routes) {
      for (const record of loop.records(route)) {
        this.records[route].push(record.outcome === 'open' ? { ...record, outcome: left } : record);
      }
    }
    this.#all.splice(this.#all.indexOf(loop), 1); // its journals are of some size
  }
}
