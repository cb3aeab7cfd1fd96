import { ShardInlineError, UnsupportedRuntimeError } from '../errors.ts';
import { type LaneLink, noThreads } from '../hosts/lane-link.ts';
import { findThreadFiles, loadThreadLibraries, refusalToOpen } from '../hosts/thread-files.ts';
import { oneByOne, ThreadKeeper } from '../hosts/thread-keeper.ts';
import type { Serving } from '../hosts/thread-policy.ts';
import { allocateDoorbell } from '../lane/doorbell.ts';
import { DEFAULT_RING_SIZES, INLINE_RING_SIZES } from '../lane/lane-memory.ts';
import { hasSharedMemory } from '../memory/shared-words.ts';
import { process } from '../process.ts';
import { runtime, threadNumber } from '../runtime.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import { addressOf, newName, type SchedulerHandle } from '../sharing/handle.ts';
import { SharedClock } from '../time/shared-clock.ts';
import type { TimerId } from '../timer-id.ts';
import { nextTick } from '../unfaked.ts';
import { Coordinator, type CoordinatorEvents } from './coordinator.ts';
import type { ResolvedOptions } from './options.ts';
import { type KnownClient, Sharing } from './sharing.ts';

/** Lays out the shared memory and returns at once. Lanes are inline until threads are up. */
export const ownClient = (options: ResolvedOptions, events: CoordinatorEvents): Coordinator =>
  new OwnCoordinator(options, events, whyInline(options, events));

/** The client of a scheduler's own thread, with the threads of the shards. */
class OwnCoordinator extends Coordinator {
  private readonly options: ResolvedOptions;
  /** Why the shards are inline from the beginning, for good. */
  private readonly reason: string | undefined;
  private readonly name = newName();
  private readonly inTurn = oneByOne();
  private sharing: Sharing | undefined;
  /** Set once no shard has a thread any more, for good. */
  private surrender: Serving | undefined;

  constructor(options: ResolvedOptions, events: CoordinatorEvents, reason: string | undefined) {
    const { shards, isAuto, tick, wheel, capacity, keepsContexts, ioFirst } = options;
    const clock = SharedClock.allocate(options.manual);
    const hosts = Array.from({ length: isAuto ? 1 : Math.max(1, shards) }, allocateDoorbell);
    const settings = { shards, isAuto, tick, wheel, capacity, keepsContexts, ioFirst };
    super({
      shared: { ownerThread: threadNumber(), clock, hosts, mayHaveThreads: false, ...settings },
      options,
      events,
      ringSizes: shards === 0 ? INLINE_RING_SIZES : DEFAULT_RING_SIZES,
      isJudged: isAuto && reason === undefined,
    });
    this.options = options;
    this.reason = reason;
    for (let placement = 0; placement < Math.max(1, shards); placement++) this.client.laneAt(placement);
    for (const [number, keeper] of this.keepers.entries()) keeper.watch(() => this.hosts[number].checkBoard());
  }

  protected linkTo(setup: ShardSetup): LaneLink {
    const { options, inTurn, name, reason } = this;
    if (reason !== undefined) return noThreads;
    const { number } = setup;
    const address = addressOf.host(name, number);
    const keeper = new ThreadKeeper({ setup, options, inTurn, address, slots: () => this.slotsOf(number) });
    this.keepers[number] = keeper;
    return keeper;
  }

  /** Number of slots that the lanes of a host have used. */
  private slotsOf(number: number): number {
    const others = this.sharing?.slots() ?? 0;
    return this.hosts[number].lanes.reduce((sum, { stage }) => sum + stage.table.highWater, others);
  }

  protected stays(number: number): void {
    const error = this.keepers[number]?.surrender;
    if (error === undefined) return;
    this.policy?.stayInline(error.message);
    if (this.keepers.every(({ surrender }) => surrender !== undefined)) {
      this.surrender = { by: 'inline', since: this.client.clock.read(), reason: error.message, changes: 1 };
    }
    if (error.shard === undefined) tellLater(this.parts.events, error);
    else this.parts.events.wentInline(error);
  }

  protected override mayStart(): boolean {
    const error = whyNoThreads(this.options, true);
    if (error !== undefined) this.keepers[0].giveUp(error);
    return error === undefined;
  }

  get serving(): Serving {
    const { policy, reason, options } = this;
    if (policy !== undefined) return { ...policy.serving };
    if (this.surrender !== undefined) return { ...this.surrender };
    const by = reason === undefined ? 'threads' : 'inline';
    return { by, since: 0, reason: reason ?? `shards: ${options.shards}`, changes: 0 };
  }

  share(): SchedulerHandle {
    this.sharing ??= this.newSharing();
    return this.sharing.handle;
  }

  private newSharing(): Sharing {
    if (!hasSharedMemory) throw UnsupportedRuntimeError.withoutSharedMemory('scheduler.share()');
    const { options, reason, client, name } = this;
    const mayHaveThreads = reason === undefined && (!options.isAuto || whyNoThreads(options, false) === undefined);
    const servers = this.hosts.map((_, number) => this.keepers[number] ?? noThreads);
    const wanted = () => this.policy?.keepThread('another event loop has asked for a thread');
    return new Sharing({ ...this.parts.shared, mayHaveThreads }, name, servers, wanted, client, this.scales);
  }

  protected cancelElsewhere(id: TimerId): Promise<boolean> {
    return this.sharing?.mail.cancelElsewhere(id) ?? Promise.resolve(false);
  }

  clockMoved(): void {
    this.sharing?.clockMoved();
  }

  override async askForCounts(): Promise<void> {
    await this.sharing?.askForCounts();
  }

  override clients(): KnownClient[] {
    return this.sharing?.clients() ?? [];
  }

  protected leave(): void {
    this.sharing?.close();
  }
}

/**
 * Returns why the shards are inline from the beginning, for good; undefined if they are not. 'auto' looks for what prevents threads
 * only when it wants one: see `mayStart`.
 */
function whyInline(options: ResolvedOptions, events: CoordinatorEvents): string | undefined {
  if (options.shards === 0) return 'shards: 0';
  if (runtime === 'deno') return 'Deno reports the end of a thread before it has ended';
  if (options.isAuto) return options.manual ? "with clock: 'manual' nothing waits for a busy event loop" : undefined;
  const error = whyNoThreads(options, true);
  if (error === undefined) return undefined;
  tellLater(events, error);
  return error.message;
}

/** Tells that no thread may be started, in a later tick: by then there may be listeners, which may close the scheduler. */
const tellLater = (events: CoordinatorEvents, error: ShardInlineError): void =>
  nextTick(() => events.wentInline(error));

/**
 * Looks for what prevents threads. `isWanted`: loads what they need. Throws MissingFileError if the options ask for threads, and a
 * file that these need is missing. Where the system lets no file be opened, that may pass: the threads' keeper tries it again, and says
 * so where it gives up.
 */
function whyNoThreads({ isAuto, workerUrl }: ResolvedOptions, isWanted: boolean): ShardInlineError | undefined {
  if (!hasSharedMemory) return ShardInlineError.withoutSharedMemory();
  if (!mayStartThreads()) return ShardInlineError.withoutPermission();
  try {
    const files = findThreadFiles(workerUrl);
    if (isWanted) loadThreadLibraries(files);
    return undefined;
  } catch (error) {
    if (refusalToOpen() !== undefined) return undefined;
    if (!isAuto) throw error;
    return ShardInlineError.withoutWorker(error as Error);
  }
}

/** Whether Node's permission model, if it is on, lets this process start threads. */
function mayStartThreads(): boolean {
  const { permission } = process as { permission?: { has(scope: string): boolean } };
  return permission === undefined || permission.has('worker');
}
