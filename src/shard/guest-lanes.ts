import { post } from '../sharing/mailbox.ts';
import { type BuiltShard, type LaneOrigin, type LaneSetup, serveLane } from './build-shard.ts';
import { type LaneWheels, wheelOf } from './lane-wheel.ts';
import type { ServedLane } from './served-lane.ts';
import type { ShardCounters } from './shard.ts';

/** A lane that its client hands over, or hands over again to the successor of a dead thread. */
export interface OfferedLane {
  /** The index of the shard's own lane with the same placement. */
  readonly placement: number;
  readonly setup: LaneSetup;
  readonly origin: LaneOrigin;
}

/** The calls of a client to a shard's thread, and their answers. */
export interface GuestCalls {
  /** By lane, in the order of attachment. */
  stats: ShardCounters[];
  /** Their wheels, in the same order. */
  wheels: LaneWheels[];
  /** The lanes that the shard had, with the entries from which the client now serves them. */
  leave: { readonly placement: number; readonly entries: Int32Array }[];
}

/** `client` is the serial of the client; `reply` is its address. Threads ignore messages for other epochs. */
export type ToShard =
  | { kind: 'attach'; client: number; epoch: number; reply: string; lanes: readonly OfferedLane[] }
  | { kind: 'call'; client: number; epoch: number; reply: string; request: number; call: keyof GuestCalls }
  | { kind: 'detach'; client: number };

/** `found`: number of live timers that were indexed by the lanes' origins. */
export type FromShard =
  | { kind: 'attached'; host: number; epoch: number; lanes: number; found: number }
  | { kind: 'refused'; host: number; epoch: number; lanes: number; error: Error }
  | { kind: 'answer'; host: number; request: number; answer?: GuestCalls[keyof GuestCalls]; error?: Error };

interface Guest {
  readonly client: number;
  readonly placement: number;
  readonly lane: ServedLane;
}

const answerTo = (address: string, message: FromShard): void => post(address, message);

/**
 * The lanes of clients other than the one for which a shard was built. They come and go by messages. A client does not wait: what
 * it publishes meanwhile stays in the lane's ring.
 */
export class GuestLanes {
  private readonly built: BuiltShard;
  private readonly epoch: number;
  private guests: Guest[] = [];

  constructor(built: BuiltShard, epoch: number) {
    this.built = built;
    this.epoch = epoch;
  }

  get count(): number {
    return this.guests.length;
  }

  placementOf(lane: ServedLane): number {
    return this.guests.find((guest) => guest.lane === lane)?.placement ?? 0;
  }

  clientOf(lane: ServedLane): number {
    return this.guests.find((guest) => guest.lane === lane)?.client ?? 0;
  }

  /** Reports a failure to the sender. If even that fails, the thread ends: its successor is offered all lanes. */
  readonly receive = (message: ToShard): void => {
    if (message.kind === 'detach') this.dismiss(message.client);
    else if (message.epoch !== this.epoch) return;
    else if (message.kind === 'attach') this.attach(message);
    else this.answer(message);
  };

  private attach({ client, epoch, reply, lanes }: ToShard & { kind: 'attach' }): void {
    const host = this.built.number;
    let found = 0;
    const admitted: Guest[] = [];
    try {
      for (const { placement, setup, origin } of lanes) {
        const served = serveLane(this.built, setup, origin);
        found += served.found;
        admitted.push({ client, placement, lane: served.lane });
      }
    } catch (error) {
      answerTo(reply, { kind: 'refused', host, epoch, lanes: lanes.length, error: error as Error });
      return;
    }
    for (const guest of admitted) {
      this.guests.push(guest);
      this.built.shard.admit(guest.lane);
    }
    answerTo(reply, { kind: 'attached', host, epoch, lanes: lanes.length, found });
  }

  private answer({ client, reply, request, call }: ToShard & { kind: 'call' }): void {
    const host = this.built.number;
    try {
      answerTo(reply, { kind: 'answer', host, request, answer: this[call](client) });
    } catch (error) {
      answerTo(reply, { kind: 'answer', host, request, error: error as Error });
    }
  }

  private stats(client: number): ShardCounters[] {
    const { shard } = this.built;
    return this.lanesOf(client).map((lane) => ({ turns: shard.turns, lanes: 1, ...lane.counters() }));
  }

  private wheels(client: number): LaneWheels[] {
    return this.lanesOf(client).map((lane) => wheelOf(lane));
  }

  private leave(client: number): GuestCalls['leave'] {
    const guests = this.guests.filter((guest) => guest.client === client);
    this.dismiss(client);
    return guests.map(({ placement, lane }) => ({ placement, entries: lane.handOver() }));
  }

  private dismiss(client: number): void {
    for (const lane of this.lanesOf(client)) this.built.shard.dismiss(lane);
    this.guests = this.guests.filter((guest) => guest.client !== client);
  }

  private lanesOf(client: number): ServedLane[] {
    return this.guests.filter((guest) => guest.client === client).map(({ lane }) => lane);
  }
}
