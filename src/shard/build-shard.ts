import type { MessagePort } from 'node:worker_threads';
import { AllocationError } from '../errors.ts';
import type { CommandStage } from '../lane/command-stage.ts';
import { ClientBell, Doorbell } from '../lane/doorbell.ts';
import type { LaneMemory } from '../lane/lane-memory.ts';
import { TableView } from '../lane/table-view.ts';
import { layOutWords } from '../memory/shared-words.ts';
import { SharedClock, type SharedClockMemory } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import { createTickIndex } from '../wheel/create-index.ts';
import type { TickIndex } from '../wheel/tick-index.ts';
import type { WheelConfig } from '../wheel/wheel-config.ts';
import { LocalLane } from './local-lane.ts';
import { RingLane } from './ring-lane.ts';
import { ScannedTable } from './scanned-table.ts';
import type { ServedLane } from './served-lane.ts';
import { Shard } from './shard.ts';

/** A lane and its client's bell, in shared memory. */
export interface LaneSetup {
  readonly memory: LaneMemory;
  readonly clientBell: SharedArrayBuffer;
}

/** What a shard is built from; can be cloned to another thread. */
export interface ShardSetup {
  readonly number: number;
  /** In ms. */
  readonly tick: number;
  readonly wheel: WheelConfig;
  readonly clock: SharedClockMemory;
  readonly doorbell: SharedArrayBuffer;
}

export interface BuiltShard {
  readonly shard: Shard;
  readonly wheel: WheelConfig;
  readonly doorbell: Doorbell;
  readonly clock: SharedClock;
  readonly scale: TickScale;
  /** Whether an engine has been refused memory, so that the tables are read instead. */
  readonly scans: boolean;
}

/**
 * What a shard builds a lane's index from: 'nothing' for the first that serves it; the timer table after a death; or
 * the entries that the previous shard has handed over.
 */
export type LaneOrigin = 'nothing' | 'tables' | Int32Array;

/** Builds a shard, without lanes. `scans`: with no engine for those that it gets. */
export function buildShard(setup: ShardSetup, scans = false): BuiltShard {
  const clock = new SharedClock(setup.clock);
  const scale = new TickScale(setup.tick);
  const doorbell = new Doorbell(setup.doorbell);
  return { shard: new Shard(clock, scale), wheel: setup.wheel, doorbell, clock, scale, scans };
}

/** The client of a lane, if it is in this thread. */
export interface LocalClient {
  /** From which its commands are taken. */
  readonly stage: CommandStage;
}

/**
 * Builds a lane for the shard to serve, and counts the live timers found by its origin. Only here does a lane meet an
 * engine. Throws AllocationError.
 */
export function serveLane(
  { clock, scale, wheel, scans }: Pick<BuiltShard, 'clock' | 'scale' | 'wheel' | 'scans'>,
  { memory, clientBell }: LaneSetup,
  origin: LaneOrigin,
  local?: LocalClient,
): { lane: ServedLane; found: number } {
  const tick = scale.tickAtOrBefore(clock.read());
  const table = new TableView(memory, scale);
  // Starts before everything that is already due, so that it is handed over in the order of its ticks.
  const start = origin === 'nothing' ? 0 : Math.max(0, Math.min(tick, table.earliestDueTick(tick) - 1));
  const { capacity } = memory;
  const bell = new ClientBell(clientBell);
  const serve = (index: TickIndex) => {
    const lane =
      local === undefined
        ? new RingLane(memory, table, index, bell)
        : new LocalLane(memory, table, index, bell, local.stage);
    if (origin === 'nothing') return { lane, found: 0 };
    return { lane, found: origin === 'tables' ? lane.rebuild(tick) : lane.takeOver(origin, tick) };
  };
  // For the whole capacity, so that nothing is copied to grow. If that is refused, for the timers that there are.
  const indexes = [
    () => createTickIndex(wheel, { capacity, start, reserve: capacity, words: layOutWords }),
    () => createTickIndex(wheel, { capacity, start }),
    () => new ScannedTable(table, start),
  ];
  if (scans) indexes.splice(0, 2);
  if (local === undefined) indexes.length = 2; // a table that is read from end to end takes the client's time
  let refusal: unknown;
  for (const create of indexes) {
    try {
      return serve(create());
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

/** The task of a shard's thread. */
export interface ShardTask {
  readonly setup: ShardSetup;
  /** The address for other clients' calls: see `receiveCall`. */
  readonly address: string;
  /** The number of this thread among the shard's, from 1. */
  readonly epoch: number;
  /** The owner's calls, through comlink. */
  readonly control: MessagePort;
}
