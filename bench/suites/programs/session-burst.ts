import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { LatenessHistogram } from '../../../src/metrics/lateness-histogram.ts';
import type { Program, RunningProgram } from './program.ts';
import { faces } from './program-timers.ts';

const SESSIONS = 300_000;
/** ms from the first that is set until all are due, and before that at which the loop begins to be watched. */
const untilDue = (part: number): number => 500 + 2000 * part;
const WATCH = 20;
/** ms after which waiting for them is given up. */
const PATIENCE = 20_000;

/** Sessions that all end at once, as after a deploy or a broken link. */
export const sessionBurst: Program = {
  name: 'burst',
  title: '300,000 sessions that end at once',
  about:
    `A map of ${SESSIONS.toLocaleString('en-US')} sessions, each with a timeout that takes it out, all due in the same millisecond. ` +
    'Meanwhile the loop is asked for a turn after each millisecond, as a socket would ask for it.',
  operation: 'session',
  live: 'session',
  slices: 2,
  wait: 'turn that a socket waits for',
  subjects: faces,
  start: async (part) => new Sessions(Math.round(SESSIONS * part), untilDue(part)),
};

interface Session {
  readonly number: number;
  readonly timeout: NodeJS.Timeout;
}

class Sessions implements RunningProgram {
  readonly live: number;
  readonly #due: number;
  readonly #sessions = new Map<number, Session>();
  #ended = 0;

  constructor(count: number, untilDue: number) {
    this.live = count;
    const end = (number: number) => {
      this.#ended += 1;
      this.#sessions.delete(number);
    };
    this.#due = performance.now() + untilDue;
    for (let number = 0; number < count; number++) {
      const delay = Math.ceil(this.#due - performance.now());
      this.#sessions.set(number, { number, timeout: setTimeout(end, delay, number) });
    }
  }

  async work(waits: LatenessHistogram): Promise<number> {
    await sleep(Math.max(0, this.#due - WATCH - performance.now()));
    const end = this.#due + PATIENCE;
    while (this.#sessions.size > 0 && performance.now() < end) {
      const start = performance.now();
      await sleep(1);
      await nextTurn(); // after the timers of this turn: only then could a socket be served
      waits.record(performance.now() - start - 1);
    }
    if (this.#ended !== this.live) throw new Error(`${this.#ended} ends of ${this.live} sessions`);
    return this.live;
  }

  async stop(): Promise<void> {
    for (const { timeout } of this.#sessions.values()) clearTimeout(timeout);
  }
}
