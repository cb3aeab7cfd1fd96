import type { ShardHere } from '../client/shard-here.ts';
import { SchedulerClosedError } from '../errors.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import type { OfferedLane, ReturnedLane } from '../shard/lane-server.ts';
import { type FailureEvents, HostFailures } from './host-failures.ts';
import { InlineShard } from './inline-shard.ts';
import { type Given, GONE, type HostAnswer, type HostCall, type LaneLink } from './lane-link.ts';
import { LaneOrigins, type OwnLane } from './lane-origins.ts';
import { LaneRefusals } from './lane-refusals.ts';
import { newLaneState, WITH_THREAD } from './lane-state.ts';

export interface HostEvents extends FailureEvents {
  /** Asks for a turn of the client now. */
  wakeClient(): void;
  /** The client's turns are also this shard's, from now on or no more. */
  serveHere(shard: ShardHere): void;
  leaveHere(shard: ShardHere): void;
  /** The lanes have moved to a thread, or back: see `isInline`. */
  relocated(): void;
  /** No thread will serve the lanes again. */
  stays(): void;
}

/**
 * A client's lanes to one shard, wherever they are served. Every client has one for each of its shards, the owner of
 * the threads too.
 *
 * `LaneState` has the picture of where they may be. `keepWith` is the loop of the states with a thread: one question to
 * it is under way at a time, and what happens meanwhile is looked at when it has answered. `checkBoard` sees in all of
 * them that the thread is gone.
 *
 * Never two at once: docs/guarantees.md has the argument.
 *
 * Inline, the lanes are handed over when nothing is staged: then the index has every live timer, under the tag of the
 * table. A thread that is wanted has the client's turns file all that is staged. Commands that are staged while a lane
 * is on its way wait in its ring.
 */
export class LaneHost {
  readonly lanes: OwnLane[] = [];
  readonly setup: ShardSetup;
  readonly failures: HostFailures;
  private readonly state = newLaneState();
  private readonly link: LaneLink;
  private readonly events: HostEvents;
  private readonly origins = new LaneOrigins();
  private readonly refusals = new LaneRefusals();
  /** Set while the lanes are served here. */
  private inline: InlineShard | undefined;
  /** Of the thread that has the lanes, or had them last. */
  private epoch = 0;
  /** How often they were attached to one: what an earlier time has asked is over. */
  private attachments = 0;
  private wantsThread = false;
  private measures = false;
  /** What the thread is to be offered next. */
  private unoffered: OfferedLane[] = [];
  /** Number of live timers that the thread has found in the lanes that it has taken. */
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
    if (!this.isWithThread()) return;
    this.unoffered.push(...this.origins.ofNew([lane]));
    if (this.state.is('attached')) this.state.enter('offering');
  }

  /** Called when a lane's table has moved to larger memory: whoever serves it builds its index anew, from that. */
  moved(): void {
    if (this.inline !== undefined) {
      this.inline.rebuild();
      this.events.wakeClient();
      return;
    }
    this.origins.moved(); // what a thread hands back is of the old table
    if (this.state.is('attached')) this.state.enter('leaving');
  }

  /** Moves the lanes to a thread, as soon as one is up. */
  startThread(): void {
    this.wantsThread = true;
    this.link.want();
    this.checkBoard();
  }

  /**
   * Serves the lanes here until `startThread` is called again; without effect if the thread is gone before. Never
   * rejects.
   */
  async endThread(): Promise<void> {
    if (this.state.is('waiting')) return;
    this.wantsThread = false;
    if (this.state.is('attached')) this.state.enter('leaving');
    while (!this.wantsThread && this.isWithThread()) await this.state.change();
  }

  /** Called when the board may have changed. */
  checkBoard(): void {
    const server = this.link.server();
    if (this.isWithThread()) {
      if (server.by === 'thread' && server.epoch === this.epoch) return;
      this.wantsThread = true; // whoever has asked for its end asks the next for its own
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

  /**
   * Asks whoever serves the lanes; if a thread is gone before it answers, its successor. Rejects once the client is
   * closed.
   */
  async call<C extends HostCall>(name: C): Promise<HostAnswer<C>> {
    for (;;) {
      if (this.inline !== undefined) return this.inline.call(name);
      if (this.state.is('over')) throw new SchedulerClosedError(name);
      const { epoch } = this;
      if (this.state.is('attached')) {
        const answer = await this.link.call<HostCall>(epoch, name);
        if (answer !== GONE) return answer as HostAnswer<C>;
        if (this.epoch !== epoch || !this.state.is('attached')) continue;
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
    return this.state.is('attached', 'alone') || (this.state.is('inline') && !this.wantsThread);
  }

  private isWithThread(): boolean {
    return this.state.is(...WITH_THREAD);
  }

  /** Whether the lanes are still with the thread that they were attached to at this time. */
  private isStill(attachment: number): boolean {
    return this.attachments === attachment && this.isWithThread();
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
    this.events.relocated();
    this.events.wakeClient(); // for a turn that publishes what is staged
  }

  private attach(epoch: number, lanes: readonly OfferedLane[]): void {
    this.epoch = epoch;
    this.attachments += 1;
    this.begin(lanes);
    void this.keepWith(this.attachments);
  }

  /** The thread has no lane, and is to take these. */
  private begin(lanes: readonly OfferedLane[]): void {
    this.unoffered = [...lanes];
    this.found = 0;
    this.state.enter(this.next());
  }

  /** Where the lanes belong whose thread has answered. */
  private next(): 'offering' | 'attached' | 'leaving' {
    if (!this.wantsThread || this.origins.haveMoved) return 'leaving';
    return this.unoffered.length > 0 ? 'offering' : 'attached';
  }

  /**
   * Keeps the lanes with a thread until it is gone, or they are back. Each step leaves another state, or the same with
   * less to do.
   */
  private async keepWith(attachment: number): Promise<void> {
    while (this.isStill(attachment)) {
      if (this.state.is('offering')) await this.offer(attachment);
      else if (this.state.is('refused')) await this.pause(attachment);
      else if (this.state.is('leaving')) await this.askBack(attachment);
      else await this.state.change();
    }
  }

  /**
   * Offers what has not been. A thread that has no memory for a lane takes none of those that were offered together.
   */
  private async offer(attachment: number): Promise<void> {
    const found = await this.ask(attachment, 'attach', this.unoffered.splice(0));
    if (found === undefined) return;
    if (found instanceof Error) {
      this.refused(found);
      return;
    }
    this.refusals.end();
    this.found += found;
    const next = this.next();
    this.state.enter(next);
    if (next !== 'attached') return;
    this.failures.noteDeaths();
    this.failures.served(this.found);
  }

  private refused(error: Error): void {
    if (this.link.refused(error)) {
      this.state.enter('dying');
      return;
    }
    this.state.enter('refused');
    this.failures.note(error);
  }

  /** After this all are offered again, some times; and then they are served here, which needs less. */
  private async pause(attachment: number): Promise<void> {
    await this.refusals.pause();
    if (this.isStill(attachment)) this.state.enter('leaving');
  }

  /** Asks the thread for all lanes: to serve them here, or to offer them again, as their tables say. */
  private async askBack(attachment: number): Promise<void> {
    const handedBack = await this.ask(attachment, 'handOver');
    if (handedBack === undefined) return;
    if (handedBack instanceof Error) {
      this.notAsked(handedBack);
    } else if (this.refusals.areTooMany) {
      this.wantsThread = false;
      this.serveInline([]);
    } else if (this.wantsThread) {
      this.begin(this.origins.ofTables(this.lanes));
    } else {
      this.serveInline(handedBack);
    }
  }

  /**
   * Asks the thread that has the lanes. Resolves with an error if it refuses, or was not asked; with undefined if it is
   * gone.
   */
  private async ask<C extends 'attach' | 'handOver'>(attachment: number, name: C, ...given: Given<C>) {
    const answer = await this.link.call(this.epoch, name, ...given).catch((error: Error) => error);
    if (!this.isStill(attachment)) return undefined;
    if (answer !== GONE) return answer;
    this.state.enter('dying');
    return undefined;
  }

  /** There was no memory for the question: the thread has the lanes as before. */
  private notAsked(error: Error): void {
    if (this.wantsThread) {
      this.refused(error);
      return;
    }
    this.wantsThread = true; // whoever has asked for its end asks again
    this.state.enter(this.next());
  }

  /** Serves the lanes here that a thread has handed back. */
  private serveInline(handedBack: readonly ReturnedLane[]): void {
    this.inline = this.newInline(handedBack);
    this.state.enter('inline');
    this.events.relocated();
    this.events.wakeClient(); // for the first turn of an index that was made for timers
    this.link.handedBack();
  }

  private stay(): void {
    const isServedHere = this.state.is('inline');
    if (!isServedHere) this.inline = this.newInline([]);
    this.state.enter('alone');
    if (!isServedHere) this.events.relocated();
    this.events.stays();
    if (!isServedHere) this.events.wakeClient();
  }

  /** Serves the lanes here, each from what a thread has handed back of it, or else from its table. */
  private newInline(handedBack: readonly ReturnedLane[]): InlineShard {
    this.failures.noteDeaths();
    const failed = (cause: Error): void => {
      this.failures.noteInline(cause);
      this.events.wakeClient(); // for a turn that knows when the pause ends
    };
    const built = (found: number): void => this.failures.served(found);
    const calm = (): void => this.checkBoard();
    const inline = new InlineShard(
      this.setup,
      { failed, built, calm },
      this.origins.ofReturned(this.lanes, handedBack),
    );
    inline.isMeasured = this.measures;
    this.events.serveHere(inline);
    return inline;
  }
}
