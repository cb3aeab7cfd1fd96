import type { Client } from '../client/client.ts';
import type { LabelScales } from '../client/labels/label-scales.ts';
import { type UnfiredTimer, unfiredTimers } from '../client/live-timers.ts';
import type { ShardInlineError } from '../errors.ts';
import type { LaneHost } from '../hosts/lane-host.ts';
import type { HostAnswer, HostCall } from '../hosts/lane-link.ts';
import type { Serving } from '../hosts/serving.ts';
import type { ThreadKeeper } from '../hosts/thread-keeper.ts';
import type { SchedulerHandle } from '../sharing/handle.ts';
import type { TickScale } from '../time/tick-scale.ts';
import type { TimerId } from '../timer-id.ts';
import type { ServedClient, ServedEvents } from './served-client.ts';
import type { KnownClient } from './sharing.ts';

/** The other clients of a scheduler, as one of them knows them. */
export interface OtherClients {
  /** The number of this client: see `SchedulerStats.client`. */
  readonly number: number;
  /** See `Scheduler.share`. Throws AllocationError. */
  share(): SchedulerHandle;
  /** See `Scheduler.cancelAnywhere`; this client does not have the timer. */
  cancel(id: TimerId): Promise<boolean>;
  /** Asks them for their counts, as far as this client reports them. */
  askForCounts(): Promise<void>;
  /** Empty if only the owner knows. */
  known(): KnownClient[];
  clockMoved(): void;
  /** Stops using shared memory. Precondition: the client's hosts have been stopped. */
  leave(): void;
}

export interface CoordinatorEvents extends ServedEvents {
  wentInline(error: ShardInlineError): void;
  /** The client is closed, and whoever waited for its timers has been told. Called once. Must not throw. */
  closed(): void;
}

export interface CoordinatorParts {
  readonly served: ServedClient;
  readonly others: OtherClients;
  /** The threads that this client owns, by host; empty if there are none. */
  readonly keepers: readonly ThreadKeeper[];
  /** The client is closed, and whoever waited for its timers has been told. Called once. Must not throw. */
  readonly closed: () => void;
}

/**
 * What a scheduler has behind its face: a client with the hosts of its lanes, and the other clients. Control calls to
 * shards go through here. `ownClient` puts together the one of an owner, `connectClient` the one of a connected
 * scheduler.
 */
export class Coordinator {
  readonly client: Client;
  readonly scale: TickScale;
  readonly scales: LabelScales;
  /** In the order of first use. */
  readonly hosts: readonly LaneHost[];
  readonly keepers: readonly ThreadKeeper[];
  readonly others: OtherClients;
  private readonly served: ServedClient;
  private readonly closed: () => void;

  constructor({ served, others, keepers, closed }: CoordinatorParts) {
    this.served = served;
    this.closed = closed;
    this.others = others;
    this.keepers = keepers;
    this.client = served.client;
    this.scale = served.scale;
    this.scales = served.scales;
    this.hosts = served.hosts;
  }

  /** See `SchedulerStats.client`. */
  get number(): number {
    return this.others.number;
  }

  get serving(): Serving {
    return this.served.serving;
  }

  share(): SchedulerHandle {
    return this.others.share();
  }

  clients(): KnownClient[] {
    return this.others.known();
  }

  askForCounts(): Promise<void> {
    return this.others.askForCounts();
  }

  clockMoved(): void {
    this.others.clockMoved();
  }

  /** Starts the threads that serve from the beginning. Until then the scheduler holds nothing but memory. */
  start(): void {
    this.served.start();
  }

  async ready(): Promise<void> {
    await this.during(Promise.all(this.hosts.map((host) => host.ready())));
  }

  /** Holds the process until the promise has settled. */
  during<T>(promise: Promise<T>): Promise<T> {
    return this.client.refs.during(promise);
  }

  async cancelAnywhere(id: TimerId): Promise<boolean> {
    if (typeof id !== 'number') return false; // no timer's
    return this.client.cancel(id) || (await this.during(this.others.cancel(id)));
  }

  /** Returns the earliest time at which a timer fires; undefined when none is live. */
  async nextExpiration(): Promise<number | undefined> {
    const { client, scale } = this;
    let earliest = Number.POSITIVE_INFINITY;
    for (let isKeptBack = true; isKeptBack; ) {
      const asked = this.ask('nextDue', (due) => due);
      isKeptBack = client.lanes.some(({ commands }) => commands.wantsRoom); // behind a full ring
      earliest = Math.min(...(await asked));
    }
    for (const lane of client.lanes) earliest = Math.min(earliest, lane.nextFiredDue());
    const next = Math.min(earliest, client.home.nextDue());
    if (next === Number.POSITIVE_INFINITY) return undefined;
    return scale.timeOf(Math.max(next, scale.tickAtOrBefore(client.clock.read()) + 1));
  }

  /**
   * Asks all shards, which know all timers by then. Resolves with what is made of each host's answer as soon as it
   * comes.
   */
  private ask<C extends HostCall, T>(name: C, made: (answer: HostAnswer<C>, host: LaneHost) => T): Promise<T[]> {
    this.publishAll();
    return this.during(Promise.all(this.hosts.map(async (host) => made(await host.call(name), host))));
  }

  /** Does the same for answers by lane. Empty if the client is closed, or is closed meanwhile. */
  async collect<C extends 'stats' | 'wheels', T>(
    name: C,
    made: (answer: HostAnswer<C>, host: LaneHost) => T[],
  ): Promise<T[]> {
    if (this.client.isClosed) return [];
    try {
      return (await this.ask(name, made)).flat();
    } catch (error) {
      if (this.client.isClosed) return [];
      throw error;
    }
  }

  /** Publishes all commands, so the shards know all timers. */
  publishAll(): void {
    this.client.publish();
  }

  /**
   * Ends the client and what serves it. Resolves with its timers that were not delivered, when all threads have ended.
   */
  async close(): Promise<UnfiredTimer[]> {
    const { client } = this;
    const unfired = unfiredTimers(client, this.served.placements);
    client.close();
    const stopped = this.stop();
    await undefined; // so that a listener below that calls close() gets the same promise
    try {
      for (const lane of client.lanes) lane.handBack();
      client.home.handBack();
    } finally {
      this.closed();
      await stopped;
    }
    return unfired;
  }

  private async stop(): Promise<void> {
    const { isInline } = this.served;
    const stopped = this.served.stop();
    await (isInline ? stopped : this.during(stopped));
    this.others.leave();
    this.client.refs.release();
  }
}
