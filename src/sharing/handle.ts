import { isSharedArrayBuffer } from 'node:util/types';
import { process } from '../process.ts';
import { threadNumber } from '../runtime.ts';
import { show } from '../show.ts';
import type { SharedClockMemory } from '../time/shared-clock.ts';
import { sharedWarnings } from '../warn-once.ts';
import type { WheelConfig } from '../wheel/wheel-config.ts';
import { Board } from './board.ts';

/** Why a handle was refused. */
type HandleErrorCode =
  | 'ERR_INVALID_HANDLE'
  | 'ERR_FOREIGN_HANDLE'
  | 'ERR_STALE_HANDLE'
  | 'ERR_ALREADY_CONNECTED'
  | 'ERR_TOO_MANY_CLIENTS';

/** `connectScheduler` cannot connect with this handle. */
export class HandleError extends Error {
  readonly code: HandleErrorCode;
  override readonly name = 'HandleError';

  constructor(code: HandleErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  static forged(value: unknown): HandleError {
    const why = `The handle must be what scheduler.share() returns, got ${show(value)}`;
    return new HandleError('ERR_INVALID_HANDLE', why);
  }

  static otherVersion(): HandleError {
    const why = 'The handle was made by another version of shardwheel, which lays out its memory differently';
    return new HandleError('ERR_INVALID_HANDLE', `${why}; only threads with the same version can share a scheduler`);
  }

  static foreign(pid: unknown, own: number): HandleError {
    const why = `The handle was made in another process (pid ${show(pid)}; this is ${own})`;
    return new HandleError('ERR_FOREIGN_HANDLE', `${why}; only threads of one process can share a scheduler`);
  }

  static stale(why: string): HandleError {
    return new HandleError('ERR_STALE_HANDLE', `The handle is no longer valid: ${why}`);
  }

  static alreadyConnected(by: string): HandleError {
    const why = `This thread already uses the scheduler: ${by}`;
    return new HandleError('ERR_ALREADY_CONNECTED', `${why}; a thread is one client; pass its scheduler on instead`);
  }

  static tooManyClients(clients: number): HandleError {
    return new HandleError('ERR_TOO_MANY_CLIENTS', `The scheduler has ${clients} clients, the most that it can have`);
  }
}

/** Raised with every change to shared memory layouts or messages. */
const VERSION = 6;

/**
 * A handle of a scheduler for the other threads of its process: see `Scheduler.share`. It can be cloned, and needs no
 * transfer list. Its fields are internal.
 */
export interface SchedulerHandle {
  readonly shardwheel: number;
  readonly pid: number;
  /** The prefix of all addresses. */
  readonly name: string;
  /** `threadId` of the owner's thread. */
  readonly ownerThread: number;
  readonly board: SharedArrayBuffer;
  /** Which warnings the process has had. */
  readonly warnings: SharedArrayBuffer | undefined;
  readonly clock: SharedClockMemory;
  /** The doorbell of each host: a host is one shard or, if one serves all, all of them. */
  readonly doorbells: readonly SharedArrayBuffer[];
  /** The owner's option, with 'auto' resolved. */
  readonly shards: number;
  readonly isAuto: boolean;
  /** Whether a shard may run on a thread, now or later. */
  readonly mayHaveThreads: boolean;
  readonly tick: number;
  readonly wheel: WheelConfig;
  readonly capacity: number;
  readonly keepsContexts: boolean;
  /** The owner's option: the default of every client. */
  readonly ioFirst: number;
  /** Where the ids of each client begin: see `firstGeneration`. */
  readonly idStart: number;
}

/** @internal */
export type HandleParts = Omit<SchedulerHandle, 'shardwheel' | 'pid' | 'name' | 'board' | 'warnings'>;

/**
 * Makes a name that no other scheduler of the process has, in any thread and by any copy of this package. Loads no
 * `node:crypto`.
 * @internal
 */
export const newName = (): string => `shardwheel:${threadNumber()}:${randomDigits()}${randomDigits()}`;

const randomDigits = (): string => Math.random().toString(36).slice(2);

/** @internal */
export function makeHandle(parts: HandleParts, name: string): SchedulerHandle {
  const board = Board.allocate(parts.doorbells.length);
  return { shardwheel: VERSION, pid: process.pid, name, board, warnings: sharedWarnings(), ...parts };
}

/**
 * Returns a valid handle. Throws HandleError for anything else, and for a handle of another process or version.
 * @internal
 */
export function requireHandle(value: unknown): SchedulerHandle {
  try {
    return checkedHandle(value);
  } catch (error) {
    throw error instanceof HandleError ? error : HandleError.forged(value); // a getter, or a proxy, of the program
  }
}

function checkedHandle(value: unknown): SchedulerHandle {
  const handle = value as SchedulerHandle;
  if (typeof value !== 'object' || value === null) throw HandleError.forged(value);
  if (typeof handle.shardwheel !== 'number' || typeof handle.pid !== 'number') throw HandleError.forged(value);
  if (handle.pid !== process.pid) throw HandleError.foreign(handle.pid, process.pid);
  if (handle.shardwheel !== VERSION) throw HandleError.otherVersion();
  const { board, clock, doorbells, name } = handle;
  const memories = Array.isArray(doorbells) ? doorbells : [undefined];
  const isWhole = [board, clock?.buffer, ...memories].every(isSharedArrayBuffer) && typeof name === 'string';
  if (!isWhole || board.byteLength !== Board.bytesFor(doorbells.length)) throw HandleError.forged(value);
  return handle;
}

/** Addresses of the threads that share a scheduler. @internal */
export const addressOf = {
  /** All clients, including the owner. */
  everyone: (name: string): string => name,
  client: (name: string, serial: number): string => `${name}:client:${serial}`,
  host: (name: string, host: number): string => `${name}:shard:${host}`,
};
