import type { ServiceCosts } from './costs.ts';
import type { EventQueue } from './event-queue.ts';
import type { Random } from './random.ts';
import { type SimulatedCores, SimulatedThread } from './simulated-cores.ts';

/** ms from one turn to the next while there is not more to do, and most ms of work before an event loop comes round. */
const pace = 1;
const turnBudget = 2;

interface LoopParts {
  readonly events: EventQueue;
  readonly machine: SimulatedCores;
  readonly random: Random;
  readonly served: ServiceCosts;
  /** Connections per ms. */
  readonly rate: number;
  /** ms per connection, beside its timers. */
  readonly work: number;
  /** ms by which its turns are after the others'. */
  readonly phase: number;
  /** Called at the end of each turn with the number of connections that it has served. */
  publish(connections: number): void;
}

/** An event loop: connections arrive, turns serve them, and timers that are due wait for a turn. */
export class SimulatedLoop {
  readonly thread = new SimulatedThread();
  /** V8's helpers. */
  readonly helper = new SimulatedThread();
  /** Connections that have been served, and that have arrived beside. */
  served = 0;
  waiting = 0;
  latenesses: number[] = [];
  longestTurn = 0;
  readonly #parts: LoopParts;
  readonly #perConnection: number;
  readonly #pauseWork: number;
  #lastLook = 0;
  #isBusy = false;
  /** ms of turns, and of the helpers, that are still to be taken. */
  #owes = 0;
  #helperOwes = 0;
  #pauseAfter = 0;
  /** What the next turn delivers: since when it could have, and how late it was by then. */
  #due: { readonly at: number; readonly late: number }[] = [];

  constructor(parts: LoopParts) {
    this.#parts = parts;
    const { lengths, perConnection } = parts.served.pauses;
    const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
    // Pauses are part of what was measured for each connection: here they come at once.
    this.#pauseWork = Math.min(perConnection * mean, parts.served.loop.perConnection);
    this.#perConnection = parts.work + parts.served.loop.perConnection - this.#pauseWork;
    this.#pauseAfter = this.#nextPause();
    parts.events.at(parts.phase, () => this.#pacedTurn());
  }

  /** Lateness and turns until now do not count. */
  forget(): void {
    this.latenesses = [];
    this.longestTurn = 0;
  }

  /** Makes this many timers come due in each ms, on average. */
  fire(perMs: number): void {
    const { events, random } = this.#parts;
    this.deliver(random.poisson(perMs), 0);
    events.at(events.now + 1, () => this.fire(perMs));
  }

  /** So many timers are to be delivered from now on, `late` ms late already, beside what was measured. */
  deliver(timers: number, late: number): void {
    const { events, random, served } = this.#parts;
    const { lateness } = served;
    for (let nth = 0; nth < timers; nth++) {
      const drawn = lateness[Math.floor(random.next() * lateness.length)] ?? 0;
      this.#due.push({ at: events.now, late: drawn + late });
    }
    if (!this.#isBusy && timers > 0) this.#turn();
  }

  #pacedTurn(): void {
    const { events, served } = this.#parts;
    events.at(events.now + pace, () => this.#pacedTurn());
    this.#owes += served.loop.perTurn;
    this.#helperOwes += served.helpers.perTurn;
    if (!this.#isBusy) this.#turn();
  }

  #turn(): void {
    const { events, machine, random, rate } = this.#parts;
    this.#isBusy = true;
    const asked = events.now;
    this.waiting += random.poisson(rate * (events.now - this.#lastLook));
    this.#lastLook = events.now;
    const most = Math.max(1, Math.floor(turnBudget / Math.max(this.#perConnection, 1e-9)));
    const served = Math.min(this.waiting, most);
    const work = this.#owes + served * this.#perConnection + this.#pausesWithin(served);
    this.#owes = 0;
    const delivered = this.#due;
    this.#due = [];
    const onStart = () => {
      // It has waited for the turn before to end, and for a core.
      for (const { at, late } of delivered) this.latenesses.push(late + events.now - at);
    };
    const onDone = () => {
      this.waiting -= served;
      this.served += served;
      this.longestTurn = Math.max(this.longestTurn, events.now - asked);
      this.#parts.publish(served);
      this.#help(served);
      this.#isBusy = false;
      if (this.waiting > 0 || this.#due.length > 0) this.#turn();
    };
    machine.run(this.thread, Math.max(work, 1e-6), onDone, onStart);
  }

  #help(served: number): void {
    const { helpers } = this.#parts.served;
    this.#helperOwes += served * helpers.perConnection;
    if (this.helper.work !== undefined || this.#helperOwes < 0.1) return;
    const work = this.#helperOwes;
    this.#helperOwes = 0;
    this.#parts.machine.run(this.helper, work, () => undefined);
  }

  #nextPause(): number {
    const { perConnection } = this.#parts.served.pauses;
    return perConnection === 0 ? Number.POSITIVE_INFINITY : 1 / perConnection;
  }

  /** ms of the collector's pauses that fall into a turn. */
  #pausesWithin(served: number): number {
    const { lengths } = this.#parts.served.pauses;
    if (this.#pauseWork === 0) return 0;
    let work = 0;
    for (this.#pauseAfter -= served; this.#pauseAfter <= 0; this.#pauseAfter += this.#nextPause()) {
      work += lengths[Math.floor(this.#parts.random.next() * lengths.length)];
    }
    return work;
  }
}
