import type { Client } from '../client/client.ts';
import type { TimerIdLayout } from '../timer-id.ts';
import { type GroupPlace, TimerGroup, type TimerStarts } from './timer-group.ts';

/** Makes the groups of a client. @internal */
export class TimerGroups {
  private readonly client: Client;
  private readonly starts: TimerStarts;
  private readonly slotMask: number;
  /** By placement. */
  private readonly places: (GroupPlace | undefined)[] = [];

  /** `starts`: the calls without a label. */
  constructor(client: Client, starts: TimerStarts, layout: TimerIdLayout) {
    this.client = client;
    this.starts = starts;
    this.slotMask = 2 ** layout.slotBits - 1;
  }

  /** See {@link Scheduler.group}. Throws InvalidArgumentError. */
  group(workerHint: number | string): TimerGroup {
    const placement = this.client.shardOf(workerHint);
    const place = this.places[placement] ?? this.place(placement);
    return new TimerGroup(place, workerHint);
  }

  private place(placement: number): GroupPlace {
    const { client, starts, slotMask } = this;
    const place = { client, placement, slotMask, starts };
    this.places[placement] = place;
    return place;
  }
}
