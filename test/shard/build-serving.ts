import type { CommandStage } from '../../src/lane/command-stage.ts';
import type { ClientBell } from '../../src/lane/doorbell.ts';
import {
  type BuiltShard,
  buildShard,
  type LaneOrigin,
  type LaneSetup,
  type ShardSetup,
  serveLane,
} from '../../src/shard/build-shard.ts';

/** A shard with lanes to serve. */
export interface ServingSetup extends ShardSetup {
  readonly lanes: readonly LaneSetup[];
}

interface Clients {
  /** Called with the lane that has onFired. */
  readonly onFired?: (lane: number) => void;
  /** For clients in the shard's own thread: one for each lane. */
  readonly stages?: readonly CommandStage[];
  /** Number of entries up to which a lane lists them, and files none: see `ServedLane`. */
  readonly mostListed?: number;
}

/** Builds a shard that serves its lanes, by one origin for all of them or one for each. */
export function buildServing(
  setup: ServingSetup,
  origin: LaneOrigin | readonly LaneOrigin[],
  { onFired, stages, mostListed }: Clients = {},
): BuiltShard & { readonly found: number } {
  const built = buildShard(setup);
  let found = 0;
  for (const [at, lane] of setup.lanes.entries()) {
    const from = Array.isArray(origin) ? (origin[at] as LaneOrigin) : (origin as LaneOrigin);
    const tell = () => onFired?.(at);
    const local = stages === undefined ? undefined : { stage: stages[at] };
    const served = serveLane(built, lane, from, local);
    // A lane of another thread's client rings that thread; here the test is told.
    if (stages === undefined && onFired !== undefined) tellOf(served.lane.clientBell, tell);
    if (mostListed !== undefined) Object.assign(served.lane, { mostListed });
    found += served.found;
    built.shard.admit(served.lane);
  }
  return { ...built, found };
}

/** Tells of each ring that finds the bell down, when it has been raised. */
function tellOf(bell: ClientBell, tell: () => void): void {
  const flag = Reflect.get(bell, 'flag') as Int32Array;
  Object.assign(bell, {
    ring: () => {
      if (Atomics.exchange(flag, 0, 1) === 0) tell();
    },
  });
}
