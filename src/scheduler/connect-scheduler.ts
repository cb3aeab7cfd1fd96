import { threadId } from 'node:worker_threads';
import { outsideContexts } from '../async-context/async-context.ts';
import { HandleError } from '../errors.ts';
import { requireHandle, type SchedulerHandle } from '../sharing/handle.ts';
import { connectCoordinator } from './connect-coordinator.ts';
import type { CoordinatorEvents } from './coordinator.ts';
import { resolveConnectOptions, type SchedulerConnectOptions } from './options.ts';
import { Scheduler } from './scheduler.ts';

/** Names of the schedulers that this thread is connected to: known to every copy of this package in the thread. */
const CONNECTED = Symbol.for('shardwheel.connected');

const connected = (): Set<string> => {
  const thread = globalThis as { [CONNECTED]?: Set<string> };
  thread[CONNECTED] ??= new Set();
  return thread[CONNECTED];
};

/**
 * A scheduler of this thread's own on the shards of another thread's: timers, callbacks, ids, events and errors are this
 * thread's. The handle is what `scheduler.share()` has returned there. When that scheduler is closed, or its thread ends, this
 * one goes on, inline. A lane to a shard is laid out at its first timer, with the owner's `capacity`: a call that sets the
 * first may throw AllocationError.
 * Throws HandleError, and for options InvalidConfigError or InvalidArgumentError.
 */
export function connectScheduler(handle: SchedulerHandle, options?: SchedulerConnectOptions): Scheduler {
  const known = requireHandle(handle);
  const { name, shards, capacity, ownerThread, tick } = known;
  const resolved = resolveConnectOptions(options, tick);
  const names = connected();
  if (ownerThread === threadId) throw HandleError.alreadyConnected('it is its own');
  if (names.has(name)) throw HandleError.alreadyConnected('it has been connected');
  const left = () => names.delete(name);
  const coordinator = (_: unknown, events: CoordinatorEvents) => connectCoordinator(known, resolved, events, left);
  const scheduler = outsideContexts(() => new Scheduler({ ...resolved, shards, capacity, coordinator }));
  names.add(name);
  return scheduler;
}
