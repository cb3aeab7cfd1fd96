import { OWNER } from '../sharing/board.ts';
import { type BuiltShard, type LaneOrigin, type LaneSetup, type LocalClient, serveLane } from './build-shard.ts';
import { addWheel, type LaneWheels, wheelOf } from './lane-wheel.ts';
import { ScannedTable } from './scanned-table.ts';
import type { ServedLane } from './served-lane.ts';
import type { ShardCounters } from './shard.ts';

/** The counts of a lane, and what its clients have not taken. */
export interface ServedCounters extends ShardCounters {
  /** Fired records, by client; undefined: the asking one. */
  readonly untaken: { readonly client: number | undefined; readonly records: number }[];
}

/** A lane that its client hands to a thread: at first, or again to the successor of one that died. */
export interface OfferedLane {
  /** Its number among the lanes of its client. */
  readonly placement: number;
  readonly setup: LaneSetup;
  readonly origin: LaneOrigin;
  /** Set if its client is in the thread that serves it. */
  readonly local?: LocalClient;
}

/** A lane that is handed back. */
export interface ReturnedLane {
  readonly placement: number;
  /**
   * What the client needs to serve it; undefined if there was no memory for it: then its table says the same but for an
   * order.
   */
  readonly entries: Int32Array | undefined;
}

interface AttachedLane {
  readonly client: number;
  readonly placement: number;
  readonly lane: ServedLane;
}

const SUMMED = [
  'lanes',
  'commands',
  'fired',
  'refiled',
  'dropped',
  'cascaded',
  'filed',
  'bytes',
  'reservedBytes',
] as const;

/**
 * What a shard's thread does for clients, each known by its serial. A thread starts without lanes: they come and go by
 * these calls, of which none carries a timer. A client does not wait for them: what it publishes meanwhile stays in the
 * lane's ring.
 *
 * The owner calls through comlink, everybody else by mailbox; an inline shard has one of its own.
 */
export class LaneServer {
  readonly built: BuiltShard;
  private attached: AttachedLane[] = [];

  constructor(built: BuiltShard) {
    this.built = built;
  }

  /**
   * Serves all of the lanes, or none if memory is refused. Returns the number of live timers that were indexed by the
   * lanes' origins, or the error.
   */
  attach(client: number, lanes: readonly OfferedLane[]): number | Error {
    const admitted: AttachedLane[] = [];
    let found = 0;
    try {
      for (const { placement, setup, origin, local } of lanes) {
        const served = serveLane(this.built, setup, origin, local);
        found += served.found;
        admitted.push({ client, placement, lane: served.lane });
      }
    } catch (error) {
      return error as Error;
    }
    for (const one of admitted) {
      this.attached.push(one);
      this.built.shard.admit(one.lane);
    }
    return found;
  }

  /** Whether a lane has no index, since memory for it was refused. */
  get isScanning(): boolean {
    return this.attached.some(({ lane }) => lane.index instanceof ScannedTable);
  }

  /** Stops serving a client's lanes, and returns what it needs to serve them itself. */
  handOver(client: number): ReturnedLane[] {
    return this.take(client).map(({ placement, lane }) => ({ placement, entries: entriesOf(lane) }));
  }

  /** Stops serving a client's lanes. Without effect if there are none. */
  detach(client: number): void {
    this.take(client);
  }

  private take(client: number): AttachedLane[] {
    const taken = this.of(client);
    for (const { lane } of taken) this.built.shard.dismiss(lane);
    this.attached = this.attached.filter((one) => one.client !== client);
    return taken;
  }

  /** By lane of the client, in the order of attachment. The owner's include the work for others, by placement. */
  stats(client: number): ServedCounters[] {
    const { turns } = this.built.shard;
    return this.sums(
      client,
      ({ client: owner, lane }): ServedCounters => {
        const untaken = [{ client: owner === client ? undefined : owner, records: lane.queues().fired }];
        return { turns, lanes: 1, ...lane.counters(), untaken };
      },
      (sum, counters) => {
        for (const name of SUMMED) sum[name] += counters[name];
        sum.untaken.push(...counters.untaken);
      },
    );
  }

  /** The same for their wheels. For the cost see `wheelOf`. */
  wheels(client: number): LaneWheels[] {
    return this.sums(client, (one) => wheelOf(one.lane, one.client === client ? undefined : one.client), addWheel);
  }

  /**
   * The earliest tick at which a client's lanes fire a timer; Infinity if there is none. Takes all commands that wait.
   */
  nextDue(client: number): number {
    const { shard } = this.built;
    const lanes = this.of(client).map(({ lane }) => lane);
    while (lanes.some((lane) => lane.isBehind())) shard.turn();
    const now = shard.tick();
    return Math.min(...lanes.map((lane) => lane.nextDue(now)));
  }

  private of(client: number): AttachedLane[] {
    return this.attached.filter((one) => one.client === client);
  }

  /** Reads a client's lanes. To the owner's, those of the other clients of the same placement are added. */
  private sums<T>(client: number, read: (one: AttachedLane) => T, add: (sum: T, more: T) => void): T[] {
    const own = this.of(client);
    const sums = own.map(read);
    const besides = client === OWNER ? this.attached.filter((one) => one.client !== OWNER) : [];
    for (const one of besides) {
      const sum = sums[own.findIndex(({ placement }) => placement === one.placement)];
      if (sum !== undefined) add(sum, read(one));
    }
    return sums;
  }
}

function entriesOf(lane: ServedLane): Int32Array | undefined {
  try {
    return lane.handOver();
  } catch {
    return undefined; // no memory
  }
}
