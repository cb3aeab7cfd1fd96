import type { ShardHere } from '../client/shard-here.ts';
import { SchedulerClosedError } from '../errors.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import type { LeftLane, OfferedLane } from '../shard/lane-server.ts';
import { type FailureEvents, HostFailures } from './host-failures.ts';
import { InlineShard, type OwnLane } from './inline-shard.ts';
import { GONE, type HostAnswer, type HostCall, type LaneLink } from './lane-link.ts';
import { LaneOrigins } from './lane-origins.ts';
import { LaneRefusals } from './lane-refusals.ts';
import { NamedState } from './named-state.ts';

/** Where the lanes are, and what may follow. */
const NEXT = {
  inline: ['attached', 'alone', 'over'], // in this thread, which serves them
  attached: ['leaving', 'waiting', 'over'], // on the thread of `epoch`, or on their way to it
  leaving: ['inline', 'attached', 'waiting', 'over'], // the same, and that thread has been asked for them
  waiting: ['attached', 'alone', 'over'], // nowhere: the thread that had them is gone, and the next is not up
  alone: ['over'], // in this thread, for good
  over: ['over'], // the client is closed
} as const;
type State = keyof typeof NEXT;

export interface HostEvents extends FailureEvents {
  /** Asks for a turn of the client now. */
  wakeClient(): void;
  /** The client's turns are also this shard's, from now on or no more. */
  serveHere(shard: ShardHere): void;
  leaveHere(shard: ShardHere): void;
  /** No thread will serve the lanes again. */
  stays(): void;
}

/**
 * A client's lanes to one shard, wherever they are served. Every client has one for each of its shards, the owner of the threads too.
 *
 *             a thread is up, and wanted              the thread is gone
 *     inline ────────────────────────────▶ attached ─────────────────────▶ waiting ──▶ attached to the next, from the tables …
 *       ▲                                     │                               │
 *       └──────────── leaving ◀───────────────┘                               └──▶ alone: there will be no thread
 *
 * Never two at once: docs/guarantees.md has the argument.
 *
 * Inline, the lanes are handed over when nothing is staged: then the index has every live timer, under the tag of the table. A thread
 * that is wanted has the client's turns file all that is staged. Commands that are staged while a lane is on its way wait in its ring.
 */
export class LaneHost {
  readonly lanes: OwnLane[] = [];
  readonly setup: ShardSetup;
  readonly failures: HostFailures;
  private readonly state = new NamedState<State>('inline', NEXT);
  private readonly link: LaneLink;
  private readonly events: HostEvents;
  private readonly origins = new LaneOrigins();
  private readonly refusals = new LaneRefusals();
  /** Set while the lanes are served here. */
  private inline: InlineShard | undefined;
  /** Of the thread that has the lanes, or had them last. */
  private epoch = 0;
  private wantsThread = false;
  private measures = false;
  /** Number of lanes that the thread has taken, and of live timers that it has found in them. */
  private taken = 0;
  private found = 0;

  constructor(setup: ShardSetup, link: LaneLink, events: HostEvents) {
    this.setup = setup;
    this.link = link;
    this.events = events;
    this.failures = new HostFailures(setup.number, link, events);
    this.inline = this.newInline([]);
  }

  get isInline(): boolean {
    return this.inline !== undefined;
  }

  /** Measures from now on what the lanes take of this thread while they are served here. */
  measureInline(): void {
    this.measures = true;
    if (this.inline !== undefined) this.inline.isMeasured = true;
  }

  /** ms of this thread that turns have taken since the lanes are served here, if that is measured. */
  get inlineTime(): number {
    return this.inline?.busy ?? 0;
  }

  /** Resolves when the lanes are served where they should be. Rejects if the client is closed before. */
  async ready(): Promise<void> {
    while (!this.isServed()) {
      if (this.state.is('over')) throw new SchedulerClosedError('ready');
      await this.state.change();
    }
  }

  /** Serves another lane, which has had no timer yet. Throws AllocationError. */
  open(lane: OwnLane): void {
    this.inline?.admit(lane);
    this.lanes.push(lane);
    if (this.state.is('attached')) void this.offer(this.origins.ofNew([lane]));
  }

  /** Called when a lane's table has moved to larger memory: whoever serves it builds its index anew, from that. */
  moved(): void {
    if (this.inline !== undefined) {
      this.inline.rebuild();
      this.events.wakeClient();
    } else if (this.state.is('attached')) {
      void this.offerAnew();
    } else {
      this.origins.moved(); // what a thread hands back is of the old table
    }
  }

  /** Moves the lanes to a thread, as soon as one is up. */
  startThread(): void {
    this.wantsThread = true;
    this.link.want();
    this.checkBoard();
  }

  /** Serves the lanes here until `startThread` is called again; without effect if the thread is gone before. Never rejects. */
  async endThread(): Promise<void> {
    this.wantsThread = false;
    if (!this.state.is('attached')) return;
    const asked = this.lanes.length;
    const left = await this.askBack();
    if (left === undefined) return;
    if (left instanceof Error) {
      this.state.enter('attached');
      void this.offer(this.origins.ofNew(this.lanes.slice(asked)));
      return;
    }
    this.serveInline(left);
  }

  /** Serves the lanes here that a thread has left. */
  private serveInline(left: readonly LeftLane[]): void {
    this.inline = this.newInline(left);
    this.state.enter('inline');
    this.events.wakeClient(); // for the first turn of an index that was made for timers
    this.link.left();
  }

  /** Called when the board may have changed. */
  checkBoard(): void {
    const server = this.link.server();
    if (this.state.is('attached', 'leaving')) {
      if (server.by === 'thread' && server.epoch === this.epoch) return;
      this.state.enter('waiting');
      this.link.lost();
      this.events.wakeClient(); // the thread may have raised the client's bell, and died before it woke the client
    }
    if (this.state.is('waiting')) {
      if (server.by === 'thread') this.attach(server.epoch, this.origins.ofTables(this.lanes));
      else if (server.by === 'clients') this.stay();
    } else if (this.state.is('inline')) {
      if (server.by === 'clients') this.stay();
      else if (server.by === 'thread' && this.wantsThread) this.handOver(server.epoch);
    }
  }

  /** Asks whoever serves the lanes; if a thread is gone before it answers, its successor. Rejects once the client is closed. */
  async call<C extends HostCall>(name: C): Promise<HostAnswer<C>> {
    for (;;) {
      if (this.inline !== undefined) return this.inline.call(name);
      if (this.state.is('over')) throw new SchedulerClosedError(name);
      const { epoch } = this;
      if (this.state.is('attached')) {
        const answer = await this.link.call<HostCall>(epoch, name);
        if (answer !== GONE) return answer as HostAnswer<C>;
        if (!this.isWith(epoch)) continue;
      }
      await this.state.change();
    }
  }

  /** Stops serving the lanes here, and what the link has of its own. Never rejects. */
  async stop(): Promise<void> {
    this.state.enter('over');
    if (this.inline !== undefined) this.events.leaveHere(this.inline);
    this.inline?.stop();
    await this.link.release();
  }

  private isServed(): boolean {
    if (this.state.is('attached')) return this.taken === this.lanes.length;
    return this.state.is('alone') || (this.state.is('inline') && !this.wantsThread);
  }

  /** Gives the lanes to the thread, once nothing is staged. */
  private handOver(epoch: number): void {
    const inline = this.inline as InlineShard;
    if (!inline.isCalm()) {
      inline.awaitCalm(); // then the board is looked at again
      this.events.wakeClient();
      return;
    }
    this.inline = undefined;
    const lanes = inline.handOver();
    this.events.leaveHere(inline);
    this.attach(epoch, lanes);
    this.events.wakeClient(); // for a turn that publishes what is staged
  }

  private attach(epoch: number, offered: readonly OfferedLane[]): void {
    this.epoch = epoch;
    this.state.enter('attached');
    this.taken = 0;
    this.found = 0;
    void this.offer(offered);
  }

  private async offer(offered: readonly OfferedLane[]): Promise<void> {
    if (offered.length === 0) return;
    const { epoch } = this;
    const found = await this.link.call(epoch, 'attach', offered).catch((error: Error) => error);
    if (this.epoch !== epoch || !this.state.is('attached', 'leaving')) return;
    if (found === GONE) return;
    if (found instanceof Error) return this.refused(epoch, found);
    this.refusals.end();
    this.taken += offered.length;
    this.found += found;
    if (this.taken < this.lanes.length) return;
    this.state.tell();
    this.failures.noteDeaths();
    this.failures.served(this.found);
  }

  /** Whether the lanes are with this thread, and are to stay there. */
  private isWith(epoch: number): boolean {
    return this.epoch === epoch && this.state.is('attached');
  }

  /**
   * Called when the thread has no memory for the lanes: it has none of those that were offered together. Offers all again, some times;
   * then they are served here, which needs less.
   */
  private async refused(epoch: number, error: Error): Promise<void> {
    if (this.link.refused(error)) return;
    this.failures.note(error);
    await this.refusals.pause();
    if (this.isWith(epoch)) await this.offerAnew();
  }

  /** Takes all lanes back from the thread, and offers them again, as their tables say. */
  private async offerAnew(): Promise<void> {
    const { epoch } = this;
    const left = await this.askBack(); // a lane that is opened meanwhile is offered with the others
    if (left === undefined) return;
    if (left instanceof Error) {
      this.attach(epoch, []);
      await this.refused(epoch, left);
    } else if (this.refusals.areTooMany) {
      this.wantsThread = false;
      this.serveInline([]);
    } else {
      this.attach(epoch, this.origins.ofTables(this.lanes));
    }
  }

  /** Asks the thread for the lanes. Resolves with an error if that was not possible, with undefined if the thread is gone. */
  private async askBack(): Promise<LeftLane[] | Error | undefined> {
    const { epoch } = this;
    this.state.enter('leaving');
    const left = await this.link.call(epoch, 'leave').catch((error: Error) => error);
    return left === GONE || this.epoch !== epoch || !this.state.is('leaving') ? undefined : left;
  }

  private stay(): void {
    const isServedHere = this.state.is('inline');
    if (!isServedHere) this.inline = this.newInline([]);
    this.state.enter('alone');
    this.events.stays();
    if (!isServedHere) this.events.wakeClient();
  }

  /** Serves the lanes here, each from what a thread has handed back of it, or else from its table. */
  private newInline(left: readonly LeftLane[]): InlineShard {
    this.failures.noteDeaths();
    const failed = (cause: Error): void => {
      this.failures.noteInline(cause);
      this.events.wakeClient(); // for a turn that knows when the pause ends
    };
    const built = (found: number): void => this.failures.served(found);
    const calm = (): void => this.checkBoard();
    const inline = new InlineShard(this.setup, { failed, built, calm }, this.origins.ofLeft(this.lanes, left));
    inline.isMeasured = this.measures;
    this.events.serveHere(inline);
    return inline;
  }
}
