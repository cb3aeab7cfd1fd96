import { ShardFailedError } from '../errors.ts';
import { allocateDoorbell, Doorbell } from '../lane/doorbell.ts';
import { TableView } from '../lane/table-view.ts';
import type { ShardOrigin, ShardSetup } from '../shard/build-shard.ts';
import type { FromShard, GuestCalls, ToShard } from '../shard/guest-lanes.ts';
import { NO_WHEEL } from '../shard/lane-wheel.ts';
import { NOTHING_DONE } from '../shard/shard.ts';
import type { ShardControl } from '../shard/shard-control.ts';
import type { HostState } from '../sharing/board.ts';
import { post } from '../sharing/mailbox.ts';
import { clockOrigin, MonotonicClock } from '../time/monotonic-clock.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import { type InlineEvents, InlineShard } from './inline-shard.ts';
import { entriesOf, type OwnLane, offered } from './own-lane.ts';
import { RestartPolicy, sleep } from './restart-policy.ts';
import type { ControlCall, ShardHost } from './shard-host.ts';

const monotonic = new MonotonicClock(clockOrigin());

/** The answer of a call to a thread that has ended, or no longer has the lanes. */
const GONE = Symbol('the thread is gone');

/** Connects a client with the threads of a shard that another scheduler owns. */
export interface RemoteParts {
  /** The address of the shard's threads. */
  readonly address: string;
  /** The client's serial. */
  readonly client: number;
  /** The client's address. */
  readonly reply: string;
  /** What serves the shard now, according to the owner. */
  readonly server: () => HostState;
  /** Makes the owner start a thread for the shard, if it has none. */
  readonly want: () => void;
  /** Called when no thread will serve the lanes again. */
  readonly stays: () => void;
}

/**
 * A client's own lanes to a shard of another thread's scheduler, wherever they are served. Each client hosts its own.
 *
 *              a thread is up, and pays             the thread dies
 *     inline ─────── hands over ─────▶ that thread ────────────────▶ nobody, until the next is up, from the tables …
 *       ▲                                                                │ there will be none: the owner is closed, or gone,
 *       └────────────────────────────────────────────────────────────────┘ or has given up
 *
 * It knows of threads by their epochs, from the owner's board. A lane that was offered to a thread is taken back only when
 * the board has another state than that thread: it is gone then, for certain. So never do two serve a lane at once.
 */
export class RemoteShard implements ShardHost {
  readonly ready = Promise.resolve();
  deaths = 0;
  private readonly setup: ShardSetup;
  private readonly parts: RemoteParts;
  private readonly events: InlineEvents;
  private readonly doorbell: Doorbell;
  /** Used while inline: the doorbell of the setup shows the state of the thread, for all clients. */
  private readonly ownDoorbell = allocateDoorbell();
  private readonly policy = new RestartPolicy({ deaths: Number.POSITIVE_INFINITY, within: 10_000 });
  private readonly lanes: OwnLane[] = [];
  private inline: InlineShard | undefined;
  /** The epoch of the thread that has the lanes, or will have them; 0 for none. */
  private epoch = 0;
  private wantsThread = false;
  /** The thread has been asked to leave the lanes: no more offers. */
  private isLeaving = false;
  /** Inline, and no thread will come. */
  private isSettled = false;
  private isStopped = false;
  /** Number of lanes that the thread has taken, and of live timers that it has found in them. */
  private taken = 0;
  private found = 0;
  /** Deaths of threads since the lanes were last served. */
  private deathsSinceServed = 0;
  private requests = 0;
  private readonly waiting = new Map<number, (answer: GuestCalls[keyof GuestCalls] | Error | typeof GONE) => void>();

  /** `setup.lanes` is empty: lanes are added as they are opened. */
  constructor(setup: ShardSetup, parts: RemoteParts, events: InlineEvents) {
    this.setup = setup;
    this.parts = parts;
    this.events = events;
    this.doorbell = new Doorbell(setup.doorbell);
    this.inline = this.newInline('nothing', true);
  }

  get isInline(): boolean {
    return this.inline !== undefined;
  }

  /** ms of this thread that turns have taken since the shard became inline. */
  get inlineTime(): number {
    return this.inline?.busy ?? 0;
  }

  /** Serves another lane. Throws AllocationError. */
  open(lane: OwnLane): void {
    this.inline?.admit(lane.setup, lane.stage);
    this.lanes.push(lane);
    if (this.epoch !== 0 && !this.isLeaving) this.offer([lane], 'nothing');
  }

  /** Moves the lanes to a thread, as soon as there is one. */
  startThread(): void {
    this.wantsThread = true;
    this.parts.want();
    this.look();
  }

  /** Serves the lanes inline until `startThread` is called again. Never rejects. */
  async endThread(): Promise<void> {
    this.wantsThread = false;
    if (this.epoch === 0) return;
    const { epoch, lanes } = this;
    const asked = lanes.length;
    this.isLeaving = true;
    const left = await this.ask('leave').catch((): typeof GONE => GONE); // no memory to ask
    this.isLeaving = false;
    if (this.isStopped) return;
    if (left === GONE) {
      // The thread keeps them, and is offered the lanes opened meanwhile; or its successor has all.
      if (this.epoch === epoch) this.offer(lanes.slice(asked), 'tables');
      return;
    }
    this.epoch = 0;
    this.goInline(left instanceof Error ? 'tables' : this.lanes.map((lane) => entriesOf(lane, left)), true);
  }

  /** Called when the board may have changed. */
  look(): void {
    const state = this.parts.server();
    if (this.isStopped || this.isSettled || this.isAttached(state)) return;
    if (this.epoch !== 0) this.lost();
    if (this.inline === undefined) {
      if (state.by === 'thread') this.attach(state.epoch, 'tables');
      else if (state.by === 'clients') this.goInline('tables', false);
    }
    if (state.by === 'clients') {
      this.isSettled = true;
      this.parts.stays();
    } else if (this.inline !== undefined && state.by === 'thread' && this.wantsThread) {
      const origin = this.inline.handOver();
      this.inline = undefined;
      this.attach(state.epoch, origin);
    }
  }

  /** Whether the thread that has the lanes, or will have them, is up. */
  private isAttached(state = this.parts.server()): boolean {
    return state.by === 'thread' && state.epoch === this.epoch;
  }

  /** Handles a message from a thread. */
  receive(message: FromShard): void {
    if (message.kind === 'answer') {
      this.waiting.get(message.request)?.(message.error ?? (message.answer as GuestCalls[keyof GuestCalls]));
      return;
    }
    if (this.isStopped || message.epoch !== this.epoch) return;
    if (message.kind === 'attached') this.attached(message.lanes, message.found);
    else void this.refused(message.epoch, message.error);
  }

  afterPublish(): void {
    this.inline?.afterPublish();
  }

  catchUp(): void {
    this.inline?.catchUp();
  }

  async call<C extends ControlCall>(name: C): Promise<ReturnType<ShardControl[C]>> {
    if (name === 'earliestDueTick') return this.earliestDueTick() as ReturnType<ShardControl[C]>;
    for (;;) {
      if (this.inline !== undefined) return this.inline.call(name);
      const isWheels = name === 'wheels';
      const nothing = isWheels ? NO_WHEEL : NOTHING_DONE;
      if (this.epoch === 0 || this.isStopped) return this.lanes.map(() => nothing) as ReturnType<ShardControl[C]>;
      const answer = await this.ask(isWheels ? name : 'stats');
      if (answer instanceof Error) throw answer;
      if (answer !== GONE) return answer as ReturnType<ShardControl[C]>;
    }
  }

  /** Stops serving lanes in this thread. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.inline?.stop();
    this.giveUpCalls();
  }

  /** Makes the thread that has the lanes drop them; returns whether the message was sent. */
  detach(): boolean {
    if (this.epoch === 0) return true;
    try {
      this.send({ kind: 'detach', client: this.parts.client });
      return true;
    } catch {
      return false; // no memory for the message
    }
  }

  private attach(epoch: number, origin: ShardOrigin): void {
    this.epoch = epoch;
    this.taken = 0;
    this.found = 0;
    this.offer(this.lanes, origin);
  }

  private offer(lanes: readonly OwnLane[], origin: ShardOrigin): void {
    const { client, reply } = this.parts;
    if (lanes.length === 0) return;
    try {
      this.send({ kind: 'attach', client, epoch: this.epoch, reply, lanes: offered(lanes, origin) });
    } catch (error) {
      void this.refused(this.epoch, error as Error); // no memory for the message
    }
  }

  private send(message: ToShard): void {
    post(this.parts.address, message);
    this.doorbell.ring(); // wakes a parked shard
  }

  private attached(lanes: number, found: number): void {
    this.taken += lanes;
    this.found += found;
    if (this.taken < this.lanes.length || this.deathsSinceServed === 0) return;
    const deaths = this.deathsSinceServed;
    this.deathsSinceServed = 0;
    const cause = new Error(`The thread of shard ${this.setup.number} has ended`);
    this.events.restarted({ shard: this.setup.number, cause, rescheduled: this.found, deaths });
  }

  /** Called when the thread had no memory for the lanes. It has none of those that were offered together. */
  private async refused(epoch: number, error: Error): Promise<void> {
    this.deaths += 1;
    this.events.failed(new ShardFailedError(this.setup.number, error));
    await sleep(Math.max(1, this.policy.pauseAfterDeath(monotonic.now())));
    if (this.isStopped || this.isLeaving || this.epoch !== epoch) return;
    if (this.detach()) this.attach(epoch, 'tables');
    else void this.refused(epoch, error);
  }

  /** Called when the thread that had the lanes is gone. */
  private lost(): void {
    this.epoch = 0;
    this.deaths += 1;
    this.deathsSinceServed += 1;
    this.giveUpCalls();
    this.events.news(); // the thread may have raised the client's bell and died before it woke the client
  }

  private goInline(origin: ShardOrigin, isTemporary: boolean): void {
    this.inline = this.newInline(origin, isTemporary);
    this.inline.afterPublish();
    this.events.news();
  }

  private newInline(origin: ShardOrigin, isTemporary: boolean): InlineShard {
    const setup = { ...this.setup, doorbell: this.ownDoorbell, lanes: this.lanes.map(({ setup }) => setup) };
    const cause = this.deathsSinceServed > 0 ? new Error('The threads of the shared scheduler are gone') : undefined;
    const deaths = this.deathsSinceServed;
    this.deathsSinceServed = 0;
    const stages = this.lanes.map(({ stage }) => stage);
    return new InlineShard({ setup, stages, events: this.events }, isTemporary, { origin, cause, deaths });
  }

  private earliestDueTick(): number {
    const scale = new TickScale(this.setup.tick);
    const now = scale.tickAtOrBefore(new SharedClock(this.setup.clock).refresh());
    return Math.min(...this.lanes.map(({ setup }) => new TableView(setup.memory, scale).earliestDueTick(now)));
  }

  /** Asks the thread. Rejects if there is no memory for the question. */
  private ask<C extends keyof GuestCalls>(call: C): Promise<GuestCalls[C] | Error | typeof GONE> {
    const { client, reply } = this.parts;
    this.requests += 1;
    const request = this.requests;
    return new Promise((resolve) => {
      this.send({ kind: 'call', client, epoch: this.epoch, reply, request, call });
      this.waiting.set(request, (answer) => {
        this.waiting.delete(request);
        resolve(answer as GuestCalls[C]);
      });
    });
  }

  private giveUpCalls(): void {
    for (const resolve of this.waiting.values()) resolve(GONE);
  }
}
