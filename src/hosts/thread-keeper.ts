import { outsideContexts } from '../async-context/async-context.ts';
import { ShardHungError, ShardInlineError } from '../errors.ts';
import { Doorbell } from '../lane/doorbell.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import { OWNER, type ServerState } from '../sharing/board.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import { type Given, GONE, type LaneAnswer, type LaneCall, type LaneLink } from './lane-link.ts';
import { NamedState } from './named-state.ts';
import { RestartPolicy, sleep } from './restart-policy.ts';
import { ShardThread } from './shard-thread.ts';
import type { ResolvedThreadOptions } from './thread-options.ts';
import { Watchdog } from './watchdog.ts';

/**
 * Returns what runs tasks one after the other: each start of a thread costs the event loop some ms, and the processors
 * some 50; several starts at once would block it for their sum.
 */
export function oneByOne(): (task: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve();
  return (task) => {
    const turn = last.then(task);
    last = turn.catch(() => undefined); // its own caller gets the error
    return turn;
  };
}

/**
 * ms for which a thread without lanes idles before its end: until then V8 may compile for it. docs/adr/0014-threads.md
 */
const EXIT_PAUSE_MS = 250;

/** Whether there is a thread, and what may follow. */
const NEXT = {
  none: ['starting', 'given up', 'over'], // there is none, and none is wanted
  starting: ['up', 'given up', 'over'], // one is on its way, or a pause after a death has to end first
  up: ['starting', 'pausing', 'over'],
  pausing: ['none', 'over'], // it has no lanes any more, and is about to be ended
  'given up': ['over'], // they have died too often, or may not be started
  over: ['over'],
} as const;
type State = keyof typeof NEXT;

export interface KeeperParts {
  readonly setup: ShardSetup;
  readonly options: ResolvedThreadOptions;
  /** Runs the starts of the scheduler's threads, one after the other. */
  readonly inTurn: (task: () => Promise<void>) => Promise<void>;
  /** At which its threads hear of clients in other threads. */
  readonly address: string;
  /** Number of slots in use by all clients of the shard. */
  readonly slots: () => number;
}

/**
 * The threads of a shard, one after the other, as their owner keeps them. The owner's own lanes go by it as the lanes
 * of any other client go by a `MailLink`.
 *
 *     none ──▶ starting ──▶ up ──▶ pausing ──▶ none       given up, after too many deaths: 'clients' on the board
 *                 ▲          │
 *                 └── dies ──┘       over, from anywhere
 *
 * It alone says what the board names. A thread, or the clients, come there only when the thread before has *exited*;
 * until then it is that thread or nothing. An error of the thread is not enough, nor an alarm of the watchdog.
 */
export class ThreadKeeper implements LaneLink {
  readonly setup: ShardSetup;
  deaths = 0;
  cause = new Error('No thread has ended');
  /** Why there will be no thread, once that is certain. */
  surrender: ShardInlineError | undefined;
  /** The latest thread. */
  thread: ShardThread | undefined;
  private readonly state = new NamedState<State>('none', NEXT);
  private epoch = 0;
  private isWanted = false;
  private readonly parts: KeeperParts;
  private readonly doorbell: Doorbell;
  private readonly policy: RestartPolicy;
  private readonly watchdog: Watchdog;
  /** Those who are told when what serves the shard has changed. */
  private readonly watchers: ((server: ServerState) => void)[] = [];

  constructor(parts: KeeperParts) {
    const { setup, options, slots } = parts;
    this.parts = parts;
    this.setup = setup;
    this.doorbell = new Doorbell(setup.doorbell);
    this.policy = new RestartPolicy(options.inlineAfter);
    const clock = new SharedClock(setup.clock);
    const scale = new TickScale(setup.tick);
    this.watchdog = new Watchdog({
      doorbell: this.doorbell,
      tick: () => scale.tickAtOrBefore(clock.read()),
      slots,
      limit: options.hangTimeout,
      hung: (silence) => this.thread?.kill(new ShardHungError(setup.number, silence)),
    });
  }

  server(): ServerState {
    if (this.state.is('up')) return { by: 'thread', epoch: this.epoch };
    return { by: this.state.is('given up') ? 'clients' : 'nothing' };
  }

  /** Calls the function with what serves the shard, now and at every change. */
  watch(onChange: (server: ServerState) => void): void {
    this.watchers.push(onChange);
    onChange(this.server());
  }

  want(): void {
    this.isWanted = true;
    if (!this.state.is('none')) return;
    this.enter('starting');
    outsideContexts(() => void this.start());
  }

  /** There will be no thread: each client serves its own lanes, for good. */
  giveUp(why: ShardInlineError): void {
    this.surrender = why;
    this.enter('given up');
  }

  call<C extends LaneCall>(epoch: number, name: C, ...given: Given<C>): Promise<LaneAnswer<C>> {
    const { thread } = this;
    if (thread === undefined || !this.state.is('up') || this.epoch !== epoch) return Promise.resolve(GONE);
    const ring = () => this.doorbell.ring(); // wakes a parked shard
    const answer = thread.call(name, [OWNER, ...given], ring) as Promise<LaneAnswer<C>>;
    if (name !== 'attach' && name !== 'handOver') return answer;
    return answer.catch(async (error: Error): Promise<typeof GONE> => {
      thread.kill(error); // nobody knows which lanes it has: its successor builds them from the tables
      await thread.ended;
      return GONE;
    });
  }

  lost(): void {}

  /** Ends the thread, which has no lane. Without effect if it has died before. */
  handedBack(): void {
    if (!this.state.is('up')) return;
    this.isWanted = false;
    this.watchdog.rest();
    this.enter('pausing');
    void this.pause();
  }

  refused(error: Error): boolean {
    this.thread?.kill(error);
    return true;
  }

  async release(): Promise<void> {
    this.state.enter('over');
    this.watchdog.rest();
    await this.thread?.stop();
  }

  private async pause(): Promise<void> {
    const { thread } = this;
    await sleep(EXIT_PAUSE_MS);
    await thread?.stop();
    if (this.state.is('over')) return;
    this.doorbell.awake(); // the thread had parked on it
    this.enter('none');
    if (this.isWanted) this.want();
  }

  /** Starts a thread, with as many attempts as necessary. Never rejects. */
  private async start(): Promise<void> {
    const { setup, options, inTurn, address } = this.parts;
    while (this.state.is('starting')) {
      this.epoch += 1;
      const thread = new ShardThread({ setup, address, epoch: this.epoch }, options);
      this.thread = thread;
      try {
        await inTurn(async () => {
          if (!this.state.is('starting')) return;
          this.watchdog.watchStart();
          await thread.start();
        });
        if (!this.state.is('starting')) return;
        this.watchdog.watchTurns();
        this.enter('up');
        void thread.ended?.then((cause) => this.died(thread, cause));
        return;
      } catch (error) {
        this.watchdog.rest();
        await thread.stop(); // it may be alive without serving
        await this.noteDeath(error as Error);
      }
    }
  }

  private died(thread: ShardThread, cause: Error): void {
    if (this.thread !== thread || !this.state.is('up')) return;
    this.watchdog.rest();
    this.doorbell.awake();
    this.enter('starting');
    void this.noteDeath(cause).then(() => this.start());
  }

  /** Resolves when the next may start; gives up if there were too many. */
  private async noteDeath(cause: Error): Promise<void> {
    this.deaths += 1;
    this.cause = cause;
    const pause = this.policy.pauseAfterDeath();
    if (this.state.is('over')) return;
    if (pause === Number.POSITIVE_INFINITY) {
      this.giveUp(ShardInlineError.afterDeaths(this.setup.number, this.deaths, cause));
    } else if (pause > 0) await sleep(pause);
  }

  private enter(state: State): void {
    this.state.enter(state);
    const server = this.server();
    for (const onChange of this.watchers) onChange(server);
  }
}
