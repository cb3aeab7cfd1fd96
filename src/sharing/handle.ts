import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { isSharedArrayBuffer } from 'node:util/types';
import { HandleError } from '../errors.ts';
import type { SharedClockMemory } from '../time/shared-clock.ts';
import type { WheelConfig } from '../wheel/wheel-config.ts';
import { Board } from './board.ts';

/** Raised with every change to what threads share: memory layouts, messages. */
const VERSION = 1;

/** A shard, or where one serves for all, all of them: what clients ring, and watch. */
interface SharedHost {
  readonly doorbell: SharedArrayBuffer;
  readonly heartbeat: SharedArrayBuffer;
}

/**
 * A scheduler, for the other threads of its process: see `Scheduler.share`. It can be cloned, and needs no transfer list.
 * What it holds is nobody's to read or to change.
 */
export interface SchedulerHandle {
  readonly shardwheel: number;
  readonly pid: number;
  /** What addresses begin with. */
  readonly name: string;
  /** `threadId` of the owner's thread. */
  readonly ownerThread: number;
  readonly board: SharedArrayBuffer;
  readonly clock: SharedClockMemory;
  readonly hosts: readonly SharedHost[];
  /** As the owner was given it, 'auto' resolved. */
  readonly shards: number;
  readonly isAuto: boolean;
  /** Some shard may be on a thread, now or later. */
  readonly mayHaveThreads: boolean;
  readonly tick: number;
  readonly wheel: WheelConfig;
  readonly capacity: number;
  readonly keepsContexts: boolean;
}

export type HandleParts = Omit<SchedulerHandle, 'shardwheel' | 'pid' | 'name' | 'board'>;

/** Nobody outside of the process can guess it, nor does any other scheduler have it. */
export const newName = (): string => `shardwheel:${randomBytes(12).toString('hex')}`;

export function makeHandle(parts: HandleParts, name: string): SchedulerHandle {
  return { shardwheel: VERSION, pid: process.pid, name, board: Board.allocate(parts.hosts.length), ...parts };
}

/** Throws HandleError for what is no handle, or none of this process and this version. */
export function requireHandle(value: unknown): SchedulerHandle {
  const handle = value as SchedulerHandle;
  if (typeof value !== 'object' || value === null) throw HandleError.forged(value);
  if (typeof handle.shardwheel !== 'number' || typeof handle.pid !== 'number') throw HandleError.forged(value);
  if (handle.pid !== process.pid) throw HandleError.foreign(handle.pid, process.pid);
  if (handle.shardwheel !== VERSION) throw HandleError.otherVersion();
  const { board, clock, hosts, name } = handle;
  const memories = Array.isArray(hosts) ? hosts.flatMap((host) => [host?.doorbell, host?.heartbeat]) : [undefined];
  const isWhole = [board, clock?.buffer, ...memories].every(isSharedArrayBuffer) && typeof name === 'string';
  if (!isWhole || board.byteLength !== Board.bytesFor(hosts.length)) throw HandleError.forged(value);
  return handle;
}

/** Addresses of the threads that share a scheduler. */
export const addressOf = {
  /** Every client, the owner among them. */
  everyone: (name: string): string => name,
  client: (name: string, serial: number): string => `${name}:client:${serial}`,
  host: (name: string, host: number): string => `${name}:shard:${host}`,
};
