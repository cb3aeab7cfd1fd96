import { allocateDoorbell, ClientBell } from '../../src/lane/doorbell.ts';
import { allocateLane, type RingSizes } from '../../src/lane/lane-memory.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import type { WheelConfig } from '../../src/wheel/wheel-config.ts';
import { buildServing, type ServingSetup } from './build-serving.ts';
import { LaneClient } from './lane-client.ts';
import { touch } from './shared-access.ts';
import { SteppedLoop } from './stepped-loop.ts';

interface Memory {
  readonly capacity: number;
  /** Clients of the shard. Default 1. */
  readonly clients?: number;
  readonly rings?: RingSizes;
  /** Default: two levels of two slots each. */
  readonly wheel?: WheelConfig;
}

export interface WorldOptions extends Memory {
  /** Most records that one delivery takes. */
  readonly maxBatch: number;
  /** Commands and entries that a shard's turn takes. */
  readonly budget: number;
  /** Entries up to which a lane files none in its wheel. Default: the usual number. */
  readonly mostListed?: number;
  /** The clock is a manual one: a parked shard wakes when rung, and each move of the clock asks for an answer. */
  readonly manual: boolean;
}

const SMALL: WheelConfig = { engine: 'cascading', precision: 1, levelBits: [1, 1] };

/** In a world's quiet end a timer is delivered at most so many ticks after its deadline. */
const PATIENCE = 1;
const LONGEST_END = 40;

/**
 * A shard and its clients in one thread, on a clock that the test moves: clients that are stepped by hand, and a shard
 * whose real loop is stepped by hand. The rules of when a side may run are those of the threads: a parked shard runs
 * when it was rung or its tick has come, a client turns when it was told of news or has changed something. So a wake-up
 * that is lost shows as a timer that is never delivered.
 */
export class LaneWorld {
  readonly clients: readonly LaneClient[];
  readonly clock: SharedClock;
  /** Undefined while the shard is dead. */
  loop: SteppedLoop | undefined;
  private readonly options: WorldOptions;
  private readonly setup: ServingSetup;

  /** Uses the memory of `setup`, which no other world uses any more. */
  constructor(options: WorldOptions, setup: ServingSetup = allocateSetup(options)) {
    this.options = options;
    this.setup = setup;
    this.clock = new SharedClock(setup.clock);
    this.clients = setup.lanes.map((_, number) => new LaneClient(setup, number, options.maxBatch, options.manual));
    this.loop = this.buildLoop(false);
  }

  get time(): number {
    return this.clock.read();
  }

  /** The clients that are not gone. */
  get present(): readonly LaneClient[] {
    return this.clients.filter(({ isGone }) => !isGone);
  }

  /** The first. */
  get client(): LaneClient {
    return this.clients[0];
  }

  /** False where a manual clock cannot be moved yet, because commands wait for room. */
  advance(ticks: number): boolean {
    if (this.options.manual) {
      for (const { lane } of this.present) lane.commands.publish();
      if (this.present.some(({ lane }) => lane.commands.waiting > 0)) return false;
    }
    this.clock.set(this.time + ticks);
    if (this.options.manual) for (const client of this.present) client.askForDue();
    return true;
  }

  /** One step of the shard: a turn, or a park. False where it sleeps on, or is dead. */
  step(): boolean {
    return this.loop?.step() ?? false;
  }

  crash(): void {
    this.loop = undefined;
  }

  rebuild(): void {
    this.loop = this.buildLoop(true);
    for (const client of this.clients) client.isTold = true; // all have to look, whenever a shard has died
  }

  /** Lets the shard run alone, until it sleeps. */
  rest(): void {
    for (let i = 0; i < 200; i++) if (!this.step()) return;
    throw new Error('the shard does not come to rest, although the clients stand still');
  }

  /** Lets all sides run until nothing is left to do at this time. */
  settle(): void {
    for (let i = 0; i < 5000; i++) {
      let isActive = this.step();
      for (const client of this.present) {
        if (!client.isTold && !client.isArmed) continue;
        client.deliver();
        client.publish();
        isActive = true;
      }
      if (!isActive) return;
    }
    throw new Error('clients and shard keep each other awake for ever');
  }

  /** Runs everything to its end and checks how each timer ended; those of a client that is gone may have any end. */
  finish(): void {
    if (this.loop === undefined) this.rebuild();
    const from = this.time;
    this.settle();
    for (let i = 0; i < LONGEST_END && this.present.some(({ lane }) => lane.table.size > 0); i++) {
      if (!this.advance(1)) throw new Error('commands are kept back for ever');
      this.settle();
    }
    for (const client of this.present) checkEnd(client, from, this.time);
    for (const { index } of this.loop?.built.shard.lanes ?? []) {
      let filed = 0;
      index.forEach(() => {
        filed += 1;
      });
      if (filed !== index.size) throw new Error(`the index counts ${index.size} entries, and has ${filed}`);
    }
  }

  private buildLoop(rebuild: boolean): SteppedLoop {
    const onFired = (lane: number) => {
      touch();
      this.clients[lane].isTold = true;
    };
    const built = buildServing(this.setup, rebuild ? 'tables' : 'nothing', {
      onFired,
      mostListed: this.options.mostListed,
    });
    Object.assign(built.shard, { budget: this.options.budget });
    return new SteppedLoop(built, this.setup.doorbell, this.options.manual);
  }
}

/**
 * Throws unless each of the client's timers has ended as it had to. The clock stands at `now`; the end began at `from`.
 */
function checkEnd({ isWaitingForAnswer, timers, lane }: LaneClient, from: number, now: number): void {
  if (isWaitingForAnswer) throw new Error('the answer never came');
  for (const timer of timers) {
    if (timer.outcome === 'live') throw new Error(`timer ${timer.id} due ${timer.deadline} is stuck at ${now}`);
    if (timer.outcome === 'delivered' && timer.deliveredAt > Math.max(from, timer.deadline) + PATIENCE) {
      throw new Error(`timer ${timer.id} due ${timer.deadline} was delivered only at ${timer.deliveredAt}`);
    }
    if (lane.table.slotOf(timer.id) >= 0) throw new Error(`the id of timer ${timer.id} is still live`);
  }
  if (lane.table.size !== 0) throw new Error(`the table holds ${lane.table.size} timers more`);
  if (lane.commands.waiting !== 0) throw new Error('commands are kept back for ever');
}

/** The memory of a shard and of its clients' lanes. */
export const allocateSetup = ({
  capacity,
  clients = 1,
  rings,
  wheel = SMALL,
}: Memory | WorldOptions): ServingSetup => ({
  number: 0,
  tick: 1,
  wheel,
  clock: SharedClock.allocate(true),
  doorbell: allocateDoorbell(),
  lanes: Array.from({ length: clients }, () => ({
    memory: allocateLane(capacity, rings),
    clientBell: ClientBell.allocate(),
  })),
});

/** Makes a world's memory as good as new. */
export function zero({ clock, doorbell, lanes }: ServingSetup): void {
  for (const buffer of [clock.buffer, doorbell]) new Int32Array(buffer).fill(0);
  for (const { memory, clientBell } of lanes) {
    const { header, table, commands, fired } = memory;
    for (const buffer of [clientBell, header, table, commands.cells, fired.cells]) new Int32Array(buffer).fill(0);
  }
}
