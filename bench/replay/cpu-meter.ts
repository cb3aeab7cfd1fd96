import { readFileSync } from 'node:fs';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';

export type CpuSource = 'schedstat' | 'stat' | 'eventLoopUtilization';

export interface CpuUse {
  /** ms of CPU, user and system, of the thread that runs the event loop; where there are several, of all. */
  readonly thread: number;
  /** The same of the whole process: worker threads, garbage collector and compiler included. */
  readonly process: number;
  readonly source: CpuSource;
  /**
   * ms for which that thread, or all of them together, was ready to run, but had no CPU; undefined where the system
   * does not tell.
   */
  readonly waiting: number | undefined;
}

/** What the kernel says about the calling thread: ns on the CPU and ns waiting for it; or clock ticks of 10 ms. */
const schedstat = () => readFileSync('/proc/thread-self/schedstat', 'latin1');
const stat = () => readFileSync('/proc/thread-self/stat', 'latin1');

/**
 * CPU of the calling thread. Node 20 has no call for one thread, so Linux is asked. On other systems it is the time
 * that the loop was not idle, which counts a preempted thread as busy. `source` names the method.
 */
export class CpuMeter {
  readonly source = availableSource();
  #thread = 0;
  #waiting = 0;
  #process = 0;
  #utilization: EventLoopUtilization | undefined;

  start(): void {
    this.#thread = this.#threadTime();
    this.#waiting = this.#waitingTime() ?? 0;
    this.#utilization = performance.eventLoopUtilization();
    this.#process = processTime();
  }

  /** CPU used since `start`. */
  read(): CpuUse {
    const thread =
      this.source === 'eventLoopUtilization'
        ? performance.eventLoopUtilization(this.#utilization).active
        : this.#threadTime() - this.#thread;
    const waiting = this.#waitingTime();
    return {
      thread,
      process: processTime() - this.#process,
      source: this.source,
      waiting: waiting === undefined ? undefined : waiting - this.#waiting,
    };
  }

  #threadTime(): number {
    process.cpuUsage(); // brings the kernel's count for this thread up to date: else it is that of the last tick
    if (this.source === 'schedstat') return Number(schedstat().split(' ')[0]) / 1e6;
    if (this.source === 'stat') return ticks(stat()) * 10;
    return 0;
  }

  #waitingTime(): number | undefined {
    return this.source === 'schedstat' ? Number(schedstat().split(' ')[1]) / 1e6 : undefined;
  }
}

function processTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Fields 14 and 15 (utime, stime), counted after the name, which may hold spaces and ends at the last bracket. */
function ticks(text: string): number {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function availableSource(): CpuSource {
  for (const [source, read] of [
    ['schedstat', () => Number(schedstat().split(' ')[0])],
    ['stat', () => ticks(stat())],
  ] as const) {
    try {
      if (read() > 0) return source;
    } catch {
      // Not this kernel.
    }
  }
  return 'eventLoopUtilization';
}
