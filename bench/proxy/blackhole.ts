import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

const MAX_FILLERS = 64;
const PROBE_MS = 100;

/**
 * An address at which a TCP connect neither succeeds nor fails, as that of a machine that has lost its power.
 *
 * A listener that merely accepts late will not do: the kernel completes handshakes by itself and `connect` succeeds
 * before anyone calls accept. Only when the queue of completed handshakes is full does it drop further SYNs, and then
 * the caller sits in SYN_SENT, which is what a connect timeout is for. So a worker thread listens with a backlog of 1
 * and blocks its event loop for good, and sockets of our own fill the queue until one of them no longer gets through.
 * Unlike an address from a documentation network this needs no route, no firewall rule and no privileges, and unlike
 * an injected fake it is a real socket in the state that the timeout is about.
 */
export class Blackhole {
  readonly port: number;
  readonly #fillers: Socket[];
  readonly #worker: Worker;
  readonly #gate: Int32Array;

  private constructor(port: number, fillers: Socket[], worker: Worker, gate: Int32Array) {
    this.port = port;
    this.#fillers = fillers;
    this.#worker = worker;
    this.#gate = gate;
  }

  static async open(): Promise<Blackhole> {
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(new URL('./blackhole-listener.js', import.meta.url), { workerData: gate });
    const [port] = (await once(worker, 'message')) as [number];
    const hole = new Blackhole(port, [], worker, gate);
    if (await hole.#fill()) return hole;
    await hole.close();
    throw new Error(`this system lets ${MAX_FILLERS} connections into a backlog of 1: no blackhole to be had`);
  }

  async close(): Promise<void> {
    for (const filler of this.#fillers) filler.destroy();
    const exited = once(this.#worker, 'exit');
    Atomics.store(this.#gate, 0, 1); // opens the gate that blackhole-listener.ts waits at
    Atomics.notify(this.#gate, 0);
    await exited;
  }

  /** True when the newest filler, and so every later connection, is left without an answer. */
  async #fill(): Promise<boolean> {
    while (this.#fillers.length < MAX_FILLERS) {
      const filler = connect({ port: this.port, host: '127.0.0.1' });
      filler.on('error', () => {}); // the kernel may give the last one up after its retries; its place stays taken
      this.#fillers.push(filler);
      const connected = new Promise<boolean>((resolve) => filler.once('connect', () => resolve(true)));
      if (!(await Promise.race([connected, sleep(PROBE_MS, false)]))) return true;
    }
    return false;
  }
}
