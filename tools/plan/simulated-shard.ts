import type { CpuCost } from './costs.ts';
import type { EventQueue } from './event-queue.ts';
import type { Random } from './random.ts';
import { type SimulatedCores, SimulatedThread } from './simulated-cores.ts';
import type { SimulatedLoop } from './simulated-loop.ts';

interface ShardParts {
  readonly events: EventQueue;
  readonly machine: SimulatedCores;
  readonly random: Random;
  /** Timers of its own that come due in each ms. */
  readonly fires: number;
  readonly cost: CpuCost;
  /** Whose timers they are, in equal parts. */
  readonly loops: readonly SimulatedLoop[];
}

/** A shard's thread: once each ms it reads what the loops have written, and sends them what is due. */
export class SimulatedShard {
  readonly thread = new SimulatedThread();
  readonly #parts: ShardParts;
  #owes = 0;
  /** What is yet to be sent. */
  #due: { readonly at: number; readonly timers: number }[] = [];

  constructor(parts: ShardParts) {
    this.#parts = parts;
    parts.events.at(0, () => this.#tick());
  }

  /** Gives it the timers of more connections to file. */
  receive(connections: number): void {
    this.#owes += connections * this.#parts.cost.perConnection;
  }

  #tick(): void {
    const { cost, events, fires, random } = this.#parts;
    events.at(events.now + 1, () => this.#tick());
    this.#owes += cost.perTurn;
    const due = random.poisson(fires);
    if (due > 0) this.#due.push({ at: events.now, timers: due });
    if (this.thread.work === undefined) this.#work();
  }

  #work(): void {
    const { events, loops, machine, random } = this.#parts;
    const own = this.#owes;
    const due = this.#due;
    this.#owes = 0;
    this.#due = [];
    machine.run(this.thread, Math.max(own, 1e-6), () => {
      // Its own work on an idle core is in what was measured.
      for (const { at, timers } of due) {
        const late = Math.max(0, events.now - at - own);
        const offset = Math.floor(random.next() * loops.length);
        const least = Math.floor(timers / loops.length);
        for (let nth = 0; nth < loops.length; nth++) {
          const more = nth < timers % loops.length ? 1 : 0;
          loops[(offset + nth) % loops.length].deliver(least + more, late);
        }
      }
      if (this.#due.length > 0) this.#work();
    });
  }
}
