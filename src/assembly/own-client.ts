import { UnsupportedRuntimeError } from '../errors.ts';
import { allocateDoorbell } from '../lane/doorbell.ts';
import { DEFAULT_RING_SIZES, INLINE_RING_SIZES } from '../lane/lane-memory.ts';
import { hasSharedMemory } from '../memory/shared-words.ts';
import { threadNumber } from '../runtime.ts';
import { OWNER } from '../sharing/board.ts';
import { type HandleParts, newName, type SchedulerHandle } from '../sharing/handle.ts';
import { SharedClock } from '../time/shared-clock.ts';
import type { TimerId } from '../timer-id.ts';
import { Coordinator, type CoordinatorEvents, type OtherClients } from './coordinator.ts';
import type { ResolvedOptions } from './options.ts';
import { OwnThreads } from './own-threads.ts';
import { ServedClient } from './served-client.ts';
import { type KnownClient, Sharing } from './sharing.ts';

// Taken once: a program may replace them.
const { random } = Math;

/**
 * Puts together the client of a scheduler's own thread, with the threads of the shards: lays out the shared memory, and
 * returns at once. Lanes are inline until threads are up.
 */
export function ownClient(options: ResolvedOptions, events: CoordinatorEvents): Coordinator {
  const shared = newShared(options);
  const name = newName();
  const threads = new OwnThreads({ shared, name, options, events });
  const ringSizes = options.shards === 0 ? INLINE_RING_SIZES : DEFAULT_RING_SIZES;
  const served = new ServedClient({ shared, serial: OWNER, options, events, ringSizes, threads });
  for (let placement = 0; placement < served.placements; placement++) served.client.laneAt(placement);
  for (const keeper of threads.keepers) keeper.watch(() => served.checkBoard());
  const others = new OwnersClients(() => newSharing(shared, name, threads, served));
  return new Coordinator({ served, others, keepers: threads.keepers, closed: events.closed });
}

function newShared(options: ResolvedOptions): HandleParts {
  const { shards, isAuto, tick, wheel, capacity, keepsContexts, ioFirst } = options;
  const clock = SharedClock.allocate(options.manual);
  const doorbells = Array.from({ length: isAuto ? 1 : Math.max(1, shards) }, allocateDoorbell);
  const settings = { shards, isAuto, tick, wheel, capacity, keepsContexts, ioFirst };
  return { ownerThread: threadNumber(), clock, doorbells, mayHaveThreads: false, idStart: random(), ...settings };
}

/** Throws AllocationError, UnsupportedRuntimeError. */
function newSharing(shared: HandleParts, name: string, threads: OwnThreads, served: ServedClient): Sharing {
  if (!hasSharedMemory) throw UnsupportedRuntimeError.withoutSharedMemory('scheduler.share()');
  const sharing = new Sharing({
    parts: { ...shared, mayHaveThreads: threads.mayEverStart() },
    name,
    client: served.client,
    scales: served.scales,
    wanted: () => served.keepThread('another event loop has asked for a thread'),
  });
  threads.shareWith(sharing);
  return sharing;
}

/** The other clients of an owner: there are none until it shares. */
class OwnersClients implements OtherClients {
  readonly number = OWNER;
  private readonly begin: () => Sharing;
  private sharing: Sharing | undefined;

  constructor(begin: () => Sharing) {
    this.begin = begin;
  }

  share(): SchedulerHandle {
    this.sharing ??= this.begin();
    return this.sharing.handle;
  }

  async cancel(id: TimerId): Promise<boolean> {
    return this.sharing === undefined ? false : this.sharing.mail.cancelElsewhere(id);
  }

  async askForCounts(): Promise<void> {
    await this.sharing?.askForCounts();
  }

  known(): KnownClient[] {
    return this.sharing?.clients() ?? [];
  }

  clockMoved(): void {
    this.sharing?.clockMoved();
  }

  leave(): void {
    this.sharing?.close();
  }
}
