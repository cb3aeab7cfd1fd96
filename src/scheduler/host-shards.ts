import type { Client } from '../client/client.ts';
import { ShardInlineError } from '../errors.ts';
import { AutoShard, type Load, type Serving } from '../hosts/auto-shard.ts';
import { type InlineEvents, InlineShard } from '../hosts/inline-shard.ts';
import { StartQueue } from '../hosts/start-queue.ts';
import { SupervisedShard } from '../hosts/supervised-shard.ts';
import type { SupervisionEvents } from '../hosts/supervision.ts';
import { findThreadFiles, loadThreadLibraries } from '../hosts/thread-files.ts';
import type { CommandStage } from '../lane/command-stage.ts';
import { hasSharedMemory } from '../memory/shared-words.ts';
import { process } from '../process.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import { addressOf } from '../sharing/handle.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { CoordinatorEvents, HostedShards } from './coordinator.ts';
import type { ResolvedOptions } from './options.ts';
import type { SharedServer } from './sharing.ts';

export interface HostingParts {
  readonly options: ResolvedOptions;
  /** One for each host. */
  readonly setups: readonly ShardSetup[];
  /** The prefix of all addresses. */
  readonly name: string;
  readonly clock: SharedClock;
  readonly client: Client;
  readonly events: CoordinatorEvents;
  /** Slots in use by clients of other threads. */
  readonly guestSlots: () => number;
}

export interface Hosting {
  readonly hosted: readonly HostedShards[];
  /** The hosts, as other threads find them. */
  readonly servers: readonly SharedServer[];
  readonly serving: () => Serving;
  /** Whether a thread may serve a shard, now or later. */
  readonly mayHaveThreads: () => boolean;
  /** Starts the threads that serve from the beginning. */
  readonly start: () => void;
}

const nothing = (): void => undefined;

/** Creates the hosts of an owner's shards, as its options ask. */
export function hostShards(parts: HostingParts): Hosting {
  const reason = whyInline(parts);
  if (reason !== undefined) return hostInline(parts, reason);
  return parts.options.isAuto ? hostAuto(parts) : hostOnThreads(parts);
}

function hostInline(parts: HostingParts, reason: string): Hosting {
  const serving: Serving = { by: 'inline', since: 0, reason, changes: 0 };
  const hosted = parts.setups.map((setup, at) => {
    const count = { restarts: 0 };
    const inline = { setup, stages: stagesOf(parts, at), events: inlineEvents(parts, count) };
    const host = new InlineShard(inline, false, { origin: 'nothing' });
    return Object.assign(count, { host, placements: placementsOf(setup, at) });
  });
  const servers = hosted.map(() => ({ notice: undefined, wanted: nothing }));
  return { hosted, servers, serving: () => serving, mayHaveThreads: () => false, start: nothing };
}

function hostOnThreads(parts: HostingParts): Hosting {
  const { shards } = parts.options;
  const serving: Serving = { by: 'threads', since: 0, reason: `shards: ${shards}`, changes: 0 };
  const starts = new StartQueue();
  const hosted = parts.setups.map((setup, at) => {
    const count = { restarts: 0 };
    const host = supervise(parts, at, starts, inlineEvents(parts, count), parts.events.wentInline);
    return Object.assign(count, { host, placements: placementsOf(setup, at) });
  });
  const servers = hosted.map(({ host }) => ({ notice: host.notice, wanted: nothing }));
  const start = () => {
    for (const { host } of hosted) host.startThread();
  };
  return { hosted, servers, serving: () => serving, mayHaveThreads: () => true, start };
}

/** One host serves all shards: inline, or on a thread. */
function hostAuto(parts: HostingParts): Hosting {
  const { client, events, options } = parts;
  const count = { restarts: 0 };
  const shard = supervise(parts, 0, new StartQueue(), inlineEvents(parts, count), (error) => {
    host.stayInline(error.message);
    events.wentInline(error);
  });
  const whyNoThread = (): string | undefined => {
    const error = whyNoThreads(options, true);
    if (error === undefined) return undefined;
    shard.notice.set({ by: 'clients' });
    tellLater(events, error);
    return error.message;
  };
  const host = new AutoShard(shard, () => loadOf(client), events.servingChanged, whyNoThread);
  const hosted = [Object.assign(count, { host, placements: placementsOf(parts.setups[0], 0) })];
  const wanted = () => host.keepThread('another event loop has asked for a thread');
  const mayHaveThreads = (): boolean => whyNoThreads(options, false) === undefined;
  const servers = [{ notice: shard.notice, wanted }];
  return { hosted, servers, serving: () => host.serving, mayHaveThreads, start: nothing };
}

function supervise(
  parts: HostingParts,
  at: number,
  starts: StartQueue,
  inline: InlineEvents,
  wentInline: SupervisionEvents['wentInline'],
): SupervisedShard {
  const { options, setups, name, clock, client, guestSlots } = parts;
  const gone = () => client.turnClock.now(); // the thread may have raised the client's bell and died before it posted
  const surroundings = { stages: stagesOf(parts, at), starts, address: addressOf.host(name, at), guestSlots };
  return new SupervisedShard(setups[at], clock, options, { ...inline, gone, wentInline }, surroundings);
}

/** Events of an inline shard; counts its restarts in the host. */
export const inlineEvents = (
  { client, events }: Pick<HostingParts, 'client' | 'events'>,
  count: { restarts: number },
): InlineEvents => ({
  news: () => client.turnClock.now(),
  turnBy: (time) => client.turnClock.by(time),
  failed: events.shardFailed,
  restarted: (restart) => {
    count.restarts += 1;
    events.restarted(restart);
  },
});

/** A host has one lane, or, if it is the only one, all of them. */
const placementsOf = ({ lanes }: ShardSetup, at: number): number[] => lanes.map((_, lane) => at + lane);

const stagesOf = ({ setups, client }: HostingParts, at: number): CommandStage[] =>
  placementsOf(setups[at], at).map((placement) => client.laneAt(placement).stage);

/** The load that decides whether a thread pays for this client. */
export const loadOf = (client: Client): Load => ({
  now: client.clock.exact(),
  size: client.size - client.home.size,
  work: workOf(client),
});

/** The work of the shards so far: commands and fired records taken. */
const workOf = ({ lanes, delivery, home }: Client): number =>
  lanes.reduce((sum, lane) => sum + lane.stage.taken, delivery.delivered - home.label.delivered + delivery.stale);

/**
 * Returns why the shards are inline from the beginning, for good; undefined if they are not. 'auto' looks for what prevents threads
 * only when it wants one: see `hostAuto`.
 */
function whyInline({ options, events }: HostingParts): string | undefined {
  if (options.shards === 0) return 'shards: 0';
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
