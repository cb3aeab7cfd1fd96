// What the programs of this folder have in common: each timer has its state here, in plain arrays that share no code with
// the scheduler, and every end that is not the one expected is a fault.
import { createScheduler } from '../../lib/index.js';

export const pass = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** By the system's clock, from the same moment in every call. */
const hrtime = () => Number(process.hrtime.bigint()) / 1e6;

export class Ledger {
  faults = [];
  /** Errors that the scheduler has told of, and what nobody caught. */
  errors = [];
  restarts = [];
  accepted = 0;
  refused = 0;
  delivered = 0;
  cancelled = 0;
  handedBack = 0;

  constructor(options) {
    this.scheduler = createScheduler(options);
    this.scheduler.on('error', (error) => this.errors.push(error));
    this.scheduler.on('shard-restart', (restart) => this.restarts.push(restart));
    this.timers = [];
  }

  get open() {
    return this.accepted - this.delivered - this.cancelled - this.handedBack;
  }

  schedule(delay) {
    const timer = { number: this.timers.length, isOpen: true, id: 0, due: hrtime() + delay };
    this.timers.push(timer);
    try {
      timer.id = this.scheduler.scheduleAfter(timer.number, delay, this.fired, timer.number);
      this.accepted += 1;
    } catch (error) {
      timer.isOpen = false;
      this.refused += 1;
      this.errors.push(error);
    }
  }

  scheduleMany(count, within) {
    for (let i = 0; i < count; i++) this.schedule((i * within) / count);
  }

  cancel(number) {
    const timer = this.timers[number];
    const isCancelled = this.scheduler.cancel(timer.id);
    if (isCancelled !== timer.isOpen) this.faults.push(`cancel of timer ${number} says ${isCancelled}`);
    if (isCancelled) this.end(number, 'cancelled');
  }

  move(number, delay) {
    const timer = this.timers[number];
    const due = hrtime() + delay;
    if (this.scheduler.rescheduleAfter(timer.id, delay)) timer.due = due;
    else if (timer.isOpen) this.faults.push(`timer ${number} is open and cannot be moved`);
  }

  fired = (number) => {
    const { due, id } = this.timers[number];
    const early = due - hrtime();
    if (early > 0) this.faults.push(`timer ${number} is early by ${early} ms of hrtime`);
    if (this.scheduler.has(id)) this.faults.push(`timer ${number} is live in its own callback`);
    this.end(number, 'delivered');
  };

  end(number, how) {
    const timer = this.timers[number];
    if (!timer.isOpen) this.faults.push(`timer ${number} is ${how} and has ended before`);
    timer.isOpen = false;
    this[how] += 1;
  }

  /** Until all have ended, or `patience` ms have passed. */
  async settle(patience = 60_000) {
    const end = hrtime() + patience;
    while (this.open > 0 && hrtime() < end) await pass(5);
    if (this.open > 0) this.faults.push(`${this.open} timers have not ended`);
  }

  /**
   * What every program here has a scheduler do: timers before it is up and after, some cancelled, all others fired, and the
   * last of them handed back. Returns the shards as `stats()` had them before the end.
   */
  async serve() {
    this.scheduleMany(500, 40);
    await this.scheduler.ready;
    this.scheduleMany(500, 40);
    for (let number = 500; number < 600; number++) this.cancel(number);
    await this.settle();
    this.scheduleMany(20, 1e7);
    const { shards } = await this.scheduler.stats();
    await this.close();
    return shards;
  }

  async close() {
    for (const { argument } of await this.scheduler.close()) this.end(argument, 'handedBack');
    if (this.open > 0) this.faults.push(`${this.open} timers are lost`);
    for (const error of this.errors) {
      if (!isClear(error)) this.faults.push(`not clear: ${error?.stack ?? error}`);
    }
  }

  /** For a person: what happened to the timers, and what the scheduler has told. */
  get counts() {
    const { accepted, refused, delivered, cancelled, handedBack, restarts } = this;
    const errors = this.errors.map(({ message }) => message);
    return { accepted, refused, delivered, cancelled, handedBack, restarts: restarts.length, errors };
  }
}

/** An error that a person can act on has a code, and says something. */
export const isClear = (error) =>
  error instanceof Error && typeof error.code === 'string' && error.code !== '' && error.message.length > 10;

/** Prints what a program found; the process then has to end by itself. */
export function report(faults, notes) {
  process.stdout.write(`${JSON.stringify({ faults, notes })}\n`);
  if (faults.length > 0) process.exitCode = 1;
  setTimeout(() => {
    process.stdout.write(`${JSON.stringify({ faults: ['the process does not end by itself'], notes })}\n`);
    process.exit(1);
  }, 30_000).unref();
}
