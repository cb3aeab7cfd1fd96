import { Worker } from 'node:worker_threads';
import type { SchedulerHandle } from '../../src/entries/index.ts';
import { type ClientReport, COUNTED } from './client-report.ts';
import type { SoakOptions } from './options.ts';

export interface ClientTask {
  readonly handle: SchedulerHandle;
  readonly options: SoakOptions;
  readonly index: number;
}

/** To a client: block for so many ms; or, without, come to an end. */
export interface ClientAsks {
  readonly block?: number;
}

type Sums = Record<(typeof COUNTED)[number], number>;

const ENTRY = new URL('./client-entry.js', import.meta.url);

/**
 * The soak's event loops beside the owner's: each a thread, each a client, ended and replaced while the others go on.
 */
export class SoakClients {
  /** Threads that were ended in the midst of what they did. */
  ended = 0;
  readonly errors: string[] = [];
  readonly #task: Omit<ClientTask, 'index'>;
  readonly #threads: Worker[] = [];
  readonly #ends: Promise<void>[] = [];
  /** By thread, of those that are there and those that were. */
  readonly #reports = new Map<Worker, ClientReport>();
  readonly #killed = new Set<Worker>();
  #isOver = false;

  constructor(handle: SchedulerHandle, options: SoakOptions) {
    this.#task = { handle, options };
    for (let index = 1; index <= options.clients; index++) this.#start(index);
  }

  get count(): number {
    return this.#threads.length;
  }

  /** Live timers of those that are there, as of their last telling. */
  get live(): number {
    return this.#threads.reduce((sum, thread) => sum + (this.#reports.get(thread)?.live ?? 0), 0);
  }

  /**
   * Over all that ever were. Of what is early, doubled and the like each counts; lost are those of clients that ended
   * well.
   */
  sums(): Sums & { latest: number } {
    const reports = [...this.#reports.values()];
    const sums = Object.fromEntries(COUNTED.map((name) => [name, reports.reduce((sum, of) => sum + of[name], 0)]));
    return { ...(sums as Sums), latest: Math.max(0, ...reports.map(({ latest }) => latest)) };
  }

  /** Ends a client's thread wherever it stands, and starts another in its place. */
  kill(at: number): void {
    const thread = this.#threads[at]!;
    if (this.#isOver || this.#killed.has(thread)) return;
    this.#killed.add(thread);
    this.ended++;
    void thread.terminate().then(() => {
      if (!this.#isOver) this.#start(at + 1);
    });
  }

  block(at: number, milliseconds: number): void {
    this.#threads[at]!.postMessage({ block: milliseconds } satisfies ClientAsks);
  }

  /** Has all come to an end, and waits for their verdicts. */
  async finish(): Promise<void> {
    this.#isOver = true;
    for (const thread of this.#threads) thread.postMessage({} satisfies ClientAsks);
    await Promise.all(this.#ends);
    for (const { errors } of this.#reports.values()) this.errors.push(...errors);
  }

  /** The plan begins anew with each thread: what its predecessor missed is nobody's to catch up. */
  #start(index: number): void {
    const thread = new Worker(ENTRY, { workerData: { ...this.#task, index } satisfies ClientTask });
    this.#threads[index - 1] = thread;
    const end = new Promise<void>((resolve) => {
      thread.on('message', ({ report, isLast }: { report: ClientReport; isLast?: boolean }) => {
        this.#reports.set(thread, report);
        if (isLast) resolve();
      });
      thread.on('error', (error) => this.errors.push(`client ${index}: ${error}`));
      thread.on('exit', () => resolve());
    });
    this.#ends.push(end);
  }
}
