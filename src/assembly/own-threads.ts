import { ShardInlineError } from '../errors.ts';
import { type LaneLink, noThreads } from '../hosts/lane-link.ts';
import { ServingRecord } from '../hosts/serving.ts';
import { findThreadFiles, loadThreadLibraries, refusalToOpen } from '../hosts/thread-files.ts';
import { oneByOne, ThreadKeeper } from '../hosts/thread-keeper.ts';
import { NOT_YET } from '../hosts/thread-policy.ts';
import { hasSharedMemory } from '../memory/shared-words.ts';
import { process } from '../process.ts';
import { runtime } from '../runtime.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import { addressOf, type HandleParts } from '../sharing/handle.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { nextTick } from '../unfaked.ts';
import type { CoordinatorEvents } from './coordinator.ts';
import type { ResolvedOptions } from './options.ts';
import type { ClientThreads } from './served-client.ts';
import type { Sharing } from './sharing.ts';

interface OwnThreadsParts {
  readonly shared: HandleParts;
  /** The prefix of all addresses. */
  readonly name: string;
  readonly options: ResolvedOptions;
  readonly events: CoordinatorEvents;
}

/** The threads of an owner: a keeper for each host, or why there are none. */
export class OwnThreads implements ClientThreads {
  readonly serving: ServingRecord;
  readonly isJudged: boolean;
  /** By host; empty if there are none. */
  readonly keepers: ThreadKeeper[] = [];
  private readonly parts: OwnThreadsParts;
  /** Why the shards are inline from the beginning, for good. */
  private readonly reason: string | undefined;
  private readonly clock: SharedClock;
  private readonly inTurn = oneByOne();
  /** Set once other clients may need them. */
  private sharing: Pick<Sharing, 'slots'> | undefined;

  /** Throws MissingFileError: see `whyNoThreads`. */
  constructor(parts: OwnThreadsParts) {
    const { options, events, shared } = parts;
    this.parts = parts;
    this.reason = whyInline(options, events);
    this.isJudged = options.isAuto && this.reason === undefined;
    this.clock = new SharedClock(shared.clock);
    if (this.isJudged) this.serving = new ServingRecord('inline', NOT_YET);
    else if (this.reason === undefined) this.serving = new ServingRecord('threads', `shards: ${options.shards}`);
    else this.serving = new ServingRecord('inline', this.reason);
  }

  linkTo(setup: ShardSetup, slots: () => number): LaneLink {
    if (this.reason !== undefined) return noThreads;
    const { options, name } = this.parts;
    const keeper = new ThreadKeeper({
      setup,
      options,
      inTurn: this.inTurn,
      address: addressOf.host(name, setup.number),
      slots: () => slots() + (this.sharing?.slots() ?? 0),
    });
    this.keepers[setup.number] = keeper;
    return keeper;
  }

  mayStart(): boolean {
    const error = whyNoThreads(this.parts.options, true);
    if (error !== undefined) this.keepers[0].giveUp(error);
    return error === undefined;
  }

  /** Whether a shard may run on a thread, now or later. Loads nothing. */
  mayEverStart(): boolean {
    const { options } = this.parts;
    return this.reason === undefined && (!options.isAuto || whyNoThreads(options, false) === undefined);
  }

  /** Other clients may need the threads from now on. */
  shareWith(sharing: Sharing): void {
    this.sharing = sharing;
    for (const host of this.parts.shared.doorbells.keys()) {
      const server = this.keepers[host] ?? noThreads;
      server.watch((state) => sharing.setServer(host, state));
    }
  }

  relocated(): void {}

  whyNone(host: number): string | undefined {
    return this.keepers[host]?.surrender?.message;
  }

  stays(host: number): void {
    const error = this.keepers[host]?.surrender;
    if (error === undefined) return;
    const areAllGone = this.keepers.every(({ surrender }) => surrender !== undefined);
    if (areAllGone && !this.isJudged) this.serving.change('inline', this.clock.read(), error.message);
    const { events } = this.parts;
    if (error.shard === undefined) tellLater(events, error);
    else events.wentInline(error);
  }
}

/**
 * Returns why the shards are inline from the beginning, for good; undefined if they are not. 'auto' looks for what
 * prevents threads only when it wants one: see `mayStart`.
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

/**
 * Tells that no thread may be started, in a later tick: by then there may be listeners, which may close the scheduler.
 */
const tellLater = (events: CoordinatorEvents, error: ShardInlineError): void =>
  nextTick(() => events.wentInline(error));

/**
 * Looks for what prevents threads. `isWanted`: loads what they need. Throws MissingFileError if the options ask for
 * threads, and a file that these need is missing. Where the system lets no file be opened, that may pass: the threads'
 * keeper tries it again, and says so where it gives up.
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
