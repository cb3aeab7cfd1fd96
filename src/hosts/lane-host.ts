import { SchedulerClosedError, ShardFailedError } from '../errors.ts';
import type { LaneOrigin, ShardSetup } from '../shard/build-shard.ts';
import type { LeftLane } from '../shard/lane-server.ts';
import { type InlineCall, type InlineCalls, type InlineEvents, InlineShard, type OwnLane } from './inline-shard.ts';
import { GONE, type LaneLink } from './lane-link.ts';
import { NamedState } from './named-state.ts';
import { RestartPolicy, sleep } from './restart-policy.ts';

/** Where the lanes are, and what may follow. */
const NEXT = {
  /** In this thread, which serves them. */
  inline: ['attached', 'alone', 'over'],
  /** On the thread of `epoch`, or on their way to it. */
  attached: ['leaving', 'waiting', 'over'],
  /** The same, and that thread has been asked for them. */
  leaving: ['inline', 'attached', 'waiting', 'over'],
  /** Nowhere: the thread that had them is gone, and the next is not up. */
  waiting: ['attached', 'alone', 'over'],
  /** In this thread, for good. */
  alone: ['over'],
  /** The client is closed. */
  over: [],
} as const;
type State = keyof typeof NEXT;

export interface HostEvents extends InlineEvents {
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
 * Never two at once. A lane goes to the thread whose epoch the board names. Then it is served again only by what the board names next,
 * another thread or the clients, which the owner stores when the one before has exited; or here, if the thread has answered that it
 * has left the lane.
 *
 * Inline, the lanes are handed over when nothing is staged: then the index has every live timer, under the tag of the table. Commands
 * that are staged while a lane is on its way wait in its ring.
 */
export class LaneHost {
  readonly lanes: OwnLane[] = [];
  /** How often another thread, or inline, has taken over. */
  restarts = 0;
  readonly setup: ShardSetup;
  private readonly state = new NamedState<State>('inline', NEXT);
  private readonly link: LaneLink;
  private readonly events: HostEvents;
  private readonly policy = new RestartPolicy({ deaths: Number.POSITIVE_INFINITY, within: 10_000 });
  /** Set while the lanes are served here. */
  private inline: InlineShard | undefined;
  /** Of the thread that has the lanes, or had them last. */
  private epoch = 0;
  private wantsThread = false;
  /** Number of lanes that the thread has taken, and of live timers that it has found in them. */
  private taken = 0;
  private found = 0;
  private failures = 0;
  /** Deaths of threads that have been reported, or need not be. */
  private reported = 0;

  constructor(setup: ShardSetup, link: LaneLink, events: HostEvents) {
    this.setup = setup;
    this.link = link;
    this.events = {
      ...events,
      failed: (error) => {
        this.failures += 1;
        events.failed(error);
      },
      restarted: (restart) => {
        this.restarts += 1;
        events.restarted(restart);
      },
    };
    this.inline = this.newInline([]);
  }

  get isInline(): boolean {
    return this.inline !== undefined;
  }

  /** ms of this thread that turns have taken since the lanes are served here. */
  get inlineTime(): number {
    return this.inline?.busy ?? 0;
  }

  /** Number of threads that have died, and of failures to serve the lanes. */
  get deaths(): number {
    return this.link.deaths + this.failures;
  }

  /** Resolves when the lanes are served where they should be. Rejects if the client is closed before. */
  async ready(): Promise<void> {
    while (!this.isServed()) {
      this.requireOpen('ready');
      await this.state.change();
    }
  }

  /** Serves another lane, which has had no timer yet. Throws AllocationError. */
  open(lane: OwnLane): void {
    this.inline?.admit(lane);
    this.lanes.push(lane);
    if (this.state.is('attached')) void this.offer([lane], () => 'nothing');
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
    const { epoch } = this;
    const asked = this.lanes.length;
    this.state.enter('leaving');
    const left = await this.link.call(epoch, 'leave').catch(() => undefined); // not asked
    if (left === GONE || this.epoch !== epoch || !this.state.is('leaving')) return;
    if (left === undefined) {
      this.state.enter('attached');
      void this.offer(this.lanes.slice(asked), () => 'nothing');
      return;
    }
    this.inline = this.newInline(this.lanes.map((lane) => entriesOf(lane, left)));
    this.state.enter('inline');
    this.begin();
    this.link.left();
  }

  /** Called when the board may have changed. */
  checkBoard(): void {
    const server = this.link.server();
    if (this.state.is('attached', 'leaving')) {
      if (server.by === 'thread' && server.epoch === this.epoch) return;
      this.lost();
    }
    if (this.state.is('waiting')) {
      if (server.by === 'thread') this.attach(server.epoch, () => 'tables');
      else if (server.by === 'clients') this.stay();
    } else if (this.state.is('inline')) {
      if (server.by === 'clients') this.stay();
      else if (server.by === 'thread' && this.wantsThread) this.handOver(server.epoch);
    }
  }

  /** Called when the client has published, or has taken fired records. */
  afterPublish(): void {
    this.inline?.afterPublish();
    if (this.wantsThread && this.state.is('inline')) this.checkBoard();
  }

  /** Called before the client takes fired records. */
  catchUp(): void {
    this.inline?.catchUp();
  }

  /** Asks whoever serves the lanes; if a thread is gone before it answers, its successor. Rejects once the client is closed. */
  async call<C extends InlineCall>(name: C): Promise<ReturnType<InlineCalls[C]>> {
    for (;;) {
      if (this.inline !== undefined) return this.inline.call(name);
      this.requireOpen(name);
      const { epoch } = this;
      if (this.state.is('attached')) {
        const answer = await this.link.call<InlineCall>(epoch, name);
        if (answer !== GONE) return answer as ReturnType<InlineCalls[C]>;
        if (!this.isWith(epoch)) continue;
      }
      await this.state.change();
    }
  }

  /** Stops serving the lanes here, and what the link has of its own. Never rejects. */
  async stop(): Promise<void> {
    if (!this.state.is('over')) this.state.enter('over');
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
    if (!inline.isCalm) {
      this.events.wakeClient(); // `afterPublish` tries again
      return;
    }
    const origins = inline.handOver();
    this.inline = undefined;
    this.attach(epoch, (lane) => origins[lane]);
    this.events.wakeClient(); // for a turn that publishes what is staged
  }

  private attach(epoch: number, originOf: (lane: number) => LaneOrigin): void {
    this.epoch = epoch;
    this.state.enter('attached');
    this.offerAll(originOf);
  }

  private offerAll(originOf: (lane: number) => LaneOrigin): void {
    this.taken = 0;
    this.found = 0;
    void this.offer(this.lanes, originOf);
  }

  private async offer(lanes: readonly OwnLane[], originOf: (lane: number) => LaneOrigin): Promise<void> {
    if (lanes.length === 0) return;
    const { epoch } = this;
    const offered = lanes.map(({ placement, setup }, at) => ({ placement, setup, origin: originOf(at) }));
    const count = lanes.length;
    const found = await this.link.call(epoch, 'attach', offered).catch((error: Error) => error);
    if (this.epoch !== epoch || !this.state.is('attached', 'leaving')) return;
    if (typeof found === 'number') this.noteTaken(count, found);
    else if (found !== GONE) await this.refused(epoch, found);
  }

  /** Whether the lanes are with this thread, and are to stay there. */
  private isWith(epoch: number): boolean {
    return this.epoch === epoch && this.state.is('attached');
  }

  private noteTaken(lanes: number, found: number): void {
    this.taken += lanes;
    this.found += found;
    if (this.taken < this.lanes.length) return;
    this.state.tell();
    const deaths = this.takeDeaths();
    if (deaths === 0) return;
    this.events.restarted({ shard: this.setup.number, cause: this.link.cause, rescheduled: this.found, deaths });
  }

  /** Called when the thread has no memory for the lanes: it has none of those that were offered together. Offers all again. */
  private async refused(epoch: number, error: Error): Promise<void> {
    if (this.link.refused(error)) return;
    this.events.failed(new ShardFailedError(this.setup.number, error));
    await sleep(Math.max(1, this.policy.pauseAfterDeath()));
    if (!this.isWith(epoch)) return;
    this.state.enter('leaving'); // a lane that is opened meanwhile is offered with the others
    const left = await this.link.call(epoch, 'leave').catch((refusal: Error) => refusal);
    if (left === GONE || this.epoch !== epoch || !this.state.is('leaving')) return;
    this.state.enter('attached');
    if (left instanceof Error) await this.refused(epoch, left);
    else this.offerAll(() => 'tables');
  }

  private lost(): void {
    this.state.enter('waiting');
    this.link.lost();
    this.events.wakeClient(); // the thread may have raised the client's bell, and died before it woke the client
  }

  private stay(): void {
    const isServedHere = this.state.is('inline');
    if (!isServedHere) this.inline = this.newInline(this.lanes.map(() => 'tables'));
    this.state.enter('alone');
    this.events.stays();
    if (!isServedHere) this.begin();
  }

  /** The first turn of an index that was made for timers. */
  private begin(): void {
    this.inline?.afterPublish();
    this.events.wakeClient();
  }

  private newInline(origin: readonly LaneOrigin[]): InlineShard {
    const { events, lanes, setup } = this;
    const deaths = this.takeDeaths();
    const cause = deaths > 0 ? this.link.cause : undefined;
    return new InlineShard({ setup, lanes, events }, { origin, deaths, cause });
  }

  /** Returns the number of deaths that nobody has heard of. */
  private takeDeaths(): number {
    const deaths = this.link.deaths - this.reported;
    this.reported = this.link.deaths;
    return deaths;
  }

  private requireOpen(call: string): void {
    if (this.state.is('over')) throw new SchedulerClosedError(call);
  }
}

/** What a thread has handed back of a lane; if that is nothing, its table is the origin. */
const entriesOf = ({ placement }: OwnLane, left: readonly LeftLane[]): LaneOrigin =>
  left.find((lane) => lane.placement === placement)?.entries ?? 'tables';
