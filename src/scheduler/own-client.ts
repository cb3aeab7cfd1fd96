import { ShardInlineError, UnsupportedRuntimeError } from '../errors.ts';
import type { OwnLane } from '../hosts/inline-shard.ts';
import { noThreads } from '../hosts/lane-link.ts';
import { findThreadFiles, loadThreadLibraries } from '../hosts/thread-files.ts';
import { StartQueue, ThreadKeeper } from '../hosts/thread-keeper.ts';
import type { Serving } from '../hosts/thread-policy.ts';
import { allocateDoorbell } from '../lane/doorbell.ts';
import { allocateHeartbeat } from '../lane/heartbeat.ts';
import { DEFAULT_RING_SIZES, INLINE_RING_SIZES } from '../lane/lane-memory.ts';
import { hasSharedMemory } from '../memory/shared-words.ts';
import { process } from '../process.ts';
import { runtime, threadNumber } from '../runtime.ts';
import { type HostState, OWNER } from '../sharing/board.ts';
import { addressOf, type HandleParts, newName } from '../sharing/handle.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { assembleClient } from './assemble-client.ts';
import { Coordinator, type CoordinatorEvents } from './coordinator.ts';
import type { ResolvedOptions } from './options.ts';
import { Sharing } from './sharing.ts';

/** Lays out the shared memory and returns at once. Lanes are inline until threads are up. */
export function ownClient(options: ResolvedOptions, events: CoordinatorEvents): Coordinator {
  const { shards, isAuto, tick, wheel, capacity, keepsContexts } = options;
  const name = newName();
  const clock = SharedClock.allocate(options.manual);
  const hosts = Array.from({ length: isAuto ? 1 : Math.max(1, shards) }, () => ({
    doorbell: allocateDoorbell(),
    heartbeat: allocateHeartbeat(),
  }));
  const settings = { shards, isAuto, tick, wheel, capacity, keepsContexts };
  const shared: HandleParts = { ownerThread: threadNumber(), clock, hosts, mayHaveThreads: false, ...settings };
  const reason = whyInline(options, events);
  const starts = new StartQueue();
  /** By host; empty where there are no threads. */
  const keepers: ThreadKeeper[] = [];
  let sharing: Sharing | undefined;
  const { client, scale, keepAlive, hosted } = assembleClient({
    shared,
    options,
    events,
    ringSizes: shards === 0 ? INLINE_RING_SIZES : DEFAULT_RING_SIZES,
    linkTo: (setup) => {
      if (reason !== undefined) return noThreads;
      const { number } = setup;
      const slots = () => slotsOf(hosted[number]?.host.lanes ?? []) + (sharing?.slots() ?? 0);
      const parts = {
        setup,
        clock: new SharedClock(clock),
        options,
        starts,
        address: addressOf.host(name, number),
        slots,
      };
      keepers[number] = new ThreadKeeper(parts);
      return keepers[number];
    },
    hosting: ({ host }, number) => keepers[number]?.watch(() => host.checkBoard()),
    mayStart: isAuto && reason === undefined ? (number) => mayStart(keepers[number]) : undefined,
    stays: (number) => {
      const error = keepers[number]?.surrender;
      if (error === undefined) return;
      hosted[number].policy?.stayInline(error.message);
      if (error.shard === undefined) tellLater(events, error);
      else events.wentInline(error);
    },
    turned: () => undefined,
  });
  const mayStart = (keeper: ThreadKeeper): boolean => {
    const error = whyNoThreads(options, true);
    if (error !== undefined) keeper.giveUp(error);
    return error === undefined;
  };
  for (let placement = 0; placement < Math.max(1, shards); placement++) client.laneAt(placement);
  const fixed: Serving = {
    by: reason === undefined ? 'threads' : 'inline',
    since: 0,
    reason: reason ?? `shards: ${shards}`,
    changes: 0,
  };
  const share = (): Sharing => {
    if (!hasSharedMemory) throw UnsupportedRuntimeError.withoutSharedMemory('scheduler.share()');
    const mayHaveThreads = reason === undefined && (!isAuto || whyNoThreads(options, false) === undefined);
    const servers = hosted.map(({ policy }, number) => ({
      watch: (onChange: (server: HostState) => void) => (keepers[number] ?? noThreads).watch(onChange),
      onWanted: () => policy?.keepThread('another event loop has asked for a thread'),
    }));
    sharing = new Sharing({ ...shared, mayHaveThreads }, name, servers, client);
    return sharing;
  };
  const serving = () => (reason === undefined && hosted[0].policy?.serving) || fixed;
  const start = () => {
    for (const { host, policy } of hosted) if (policy === undefined) host.startThread();
  };
  return new Coordinator({ client, serial: OWNER, scale, keepAlive, hosted, keepers, serving, share, start });
}

/** Number of slots that lanes have used. */
const slotsOf = (lanes: readonly OwnLane[]): number => lanes.reduce((sum, { stage }) => sum + stage.highWater, 0);

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
  process.nextTick(() => events.wentInline(error));

/**
 * Looks for what prevents threads. `isWanted`: loads what they need. Throws MissingFileError if the options ask for threads, and a
 * file that these need is missing.
 */
function whyNoThreads({ isAuto, workerUrl }: ResolvedOptions, isWanted: boolean): ShardInlineError | undefined {
  if (!hasSharedMemory) return ShardInlineError.withoutSharedMemory();
  if (!mayStartThreads()) return ShardInlineError.withoutPermission();
  try {
    const files = findThreadFiles(workerUrl);
    if (isWanted) loadThreadLibraries(files);
    return undefined;
  } catch (error) {
    if (!isAuto) throw error;
    return ShardInlineError.withoutWorker(error as Error);
  }
}

/** Whether Node's permission model, if it is on, lets this process start threads. */
function mayStartThreads(): boolean {
  const { permission } = process as { permission?: { has(scope: string): boolean } };
  return permission === undefined || permission.has('worker');
}
