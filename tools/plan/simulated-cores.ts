import FlatQueue from 'flatqueue';
import type { EventQueue } from './event-queue.ts';

/** ms for which a thread keeps its core while others are ready to run. */
const slice = 3;
/** A thread that wakes takes the core of one that has had this many ms more than itself. */
const wakeupGranularity = 1;
/** A thread that has slept is ahead of the others by at most this many ms. */
const sleeperCredit = 3;

/** A piece of a thread's work. */
interface Work {
  /** ms of CPU that it takes. */
  left: number;
  /** Called when a core takes it up. */
  readonly onStart: (() => void) | undefined;
  readonly onDone: () => void;
}

export class SimulatedThread {
  /** ms of CPU that it has had. */
  used = 0;
  /** ms for which it was ready and had no core. */
  waited = 0;
  work: Work | undefined;
  /** CPU that it has had, moved forward after a sleep: the thread with the least runs next. */
  virtual = 0;
  since = 0;
  isRunning = false;
  /** Counts its turns on a core, so that the end of a turn that was cut short is told from that of the present one. */
  turn = 0;
}

/**
 * The cores of a machine, and a scheduler after the kernel's fair one: the thread that has had least CPU runs next,
 * keeps its core for a slice where others wait, and one that wakes takes the core of one that has had more. One queue
 * for all cores, so that they are balanced at all times, and no cost of a switch.
 *
 * Source: the kernel's documentation of CFS (sched-design-CFS), and its defaults for the granularities.
 */
export class SimulatedCores {
  readonly #events: EventQueue;
  readonly #cores: number;
  readonly #ready = new FlatQueue<SimulatedThread>();
  readonly #running = new Set<SimulatedThread>();
  /** The least virtual time of those that ran last: it only grows. */
  #least = 0;

  constructor(events: EventQueue, cores: number) {
    this.#events = events;
    this.#cores = cores;
  }

  /** Gives a thread that has nothing to do `cpu` ms of work. */
  run(thread: SimulatedThread, cpu: number, onDone: () => void, onStart?: () => void): void {
    if (thread.work !== undefined) throw new Error('the thread has work');
    thread.work = { left: cpu, onDone, onStart };
    thread.virtual = Math.max(thread.virtual, this.#least - sleeperCredit);
    thread.since = this.#events.now;
    if (this.#running.size < this.#cores) {
      // When a thread ends a piece of work and begins the next, others may be ahead of it.
      this.#enqueue(thread);
      this.#takeNext();
      return;
    }
    const most = this.#mostServed();
    if (this.#virtualOf(most) > thread.virtual + wakeupGranularity) {
      this.#stop(most);
      this.#start(thread);
      this.#enqueue(most);
    } else this.#enqueue(thread);
  }

  #enqueue(thread: SimulatedThread): void {
    thread.since = this.#events.now;
    this.#ready.push(thread, thread.virtual);
  }

  #start(thread: SimulatedThread): void {
    const { now } = this.#events;
    thread.waited += now - thread.since;
    thread.since = now;
    thread.isRunning = true;
    thread.turn += 1;
    this.#running.add(thread);
    this.#least = Math.max(this.#least, Math.min(thread.virtual, this.#ready.peekValue() ?? thread.virtual));
    const work = thread.work!;
    if (work.onStart !== undefined) {
      work.onStart();
      thread.work = { ...work, onStart: undefined };
    }
    this.#continue(thread);
  }

  /** Until its work is done, or for a slice. */
  #continue(thread: SimulatedThread): void {
    const { turn } = thread;
    const { left } = thread.work!;
    this.#events.at(this.#events.now + Math.min(left, slice), () => {
      if (thread.turn === turn && thread.isRunning) this.#pause(thread);
    });
  }

  #pause(thread: SimulatedThread): void {
    this.#account(thread);
    const { left, onDone } = thread.work!;
    if (left < 1e-9) {
      this.#leave(thread);
      thread.work = undefined;
      onDone();
      this.#takeNext();
    } else if ((this.#ready.peekValue() ?? Number.POSITIVE_INFINITY) < thread.virtual) {
      this.#leave(thread);
      this.#enqueue(thread);
      this.#takeNext();
    } else {
      thread.turn += 1;
      this.#continue(thread);
    }
  }

  /** `onDone` may have taken the core already. */
  #takeNext(): void {
    while (this.#running.size < this.#cores && this.#ready.length > 0) this.#start(this.#ready.pop()!);
  }

  #stop(thread: SimulatedThread): void {
    this.#account(thread);
    this.#leave(thread);
  }

  #leave(thread: SimulatedThread): void {
    thread.isRunning = false;
    this.#running.delete(thread);
  }

  #account(thread: SimulatedThread): void {
    const ran = this.#events.now - thread.since;
    thread.since = this.#events.now;
    thread.used += ran;
    thread.virtual += ran;
    thread.work!.left -= ran;
  }

  #virtualOf(thread: SimulatedThread): number {
    return thread.virtual + this.#events.now - thread.since;
  }

  #mostServed(): SimulatedThread {
    let [most] = this.#running;
    for (const thread of this.#running) if (this.#virtualOf(thread) > this.#virtualOf(most)) most = thread;
    return most;
  }
}
