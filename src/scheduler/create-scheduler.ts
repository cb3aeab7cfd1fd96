import { connectClient } from '../assembly/connect-client.ts';
import { noticeFakes } from '../assembly/notice-fakes.ts';
import {
  resolveConnectOptions,
  resolveOptions,
  type SchedulerConnectOptions,
  type SchedulerOptions,
} from '../assembly/options.ts';
import { ownClient } from '../assembly/own-client.ts';
import { outsideContexts } from '../async-context/async-context.ts';
import { threadNumber } from '../runtime.ts';
import { HandleError, requireHandle, type SchedulerHandle } from '../sharing/handle.ts';
import { joinWarnings, sharedWarnings } from '../warn-once.ts';
import { Scheduler } from './scheduler.ts';

/**
 * Creates a scheduler. Timers may be scheduled at once, before any thread is up.
 * @throws InvalidConfigError, InvalidArgumentError for invalid options; MissingFileError if they ask for threads, whose
 * file is not found; AllocationError.
 */
export function createScheduler(options?: SchedulerOptions): Scheduler {
  const resolved = resolveOptions(options);
  noticeFakes(resolved.manual);
  sharedWarnings();
  // Outside all contexts: the scheduler serves all callers, and would keep the context of this call alive.
  return outsideContexts(() => new Scheduler(resolved, (events) => ownClient(resolved, events)));
}

/** Names of the schedulers to which this thread is connected: shared by every copy of this package in the thread. */
const CONNECTED = Symbol.for('shardwheel.connected');

const connected = (): Set<string> => {
  const thread = globalThis as { [CONNECTED]?: Set<string> };
  thread[CONNECTED] ??= new Set();
  return thread[CONNECTED];
};

/**
 * Connects to a scheduler of another thread and returns this thread's own scheduler on its shards. Timers, callbacks,
 * ids, events and errors belong to this thread. `handle` is the result of `scheduler.share()`. When the shared
 * scheduler is closed, or its thread ends, this one goes on inline. A lane to a shard is laid out at the first timer on
 * that shard, with the owner's `capacity`, so that call may throw AllocationError.
 * @throws HandleError; InvalidConfigError or InvalidArgumentError for the options.
 */
export function connectScheduler(handle: SchedulerHandle, options?: SchedulerConnectOptions): Scheduler {
  const known = requireHandle(handle);
  const { name, shards, capacity, ownerThread } = known;
  noticeFakes(known.clock.manual);
  const resolved = resolveConnectOptions(options, known);
  const names = connected();
  if (ownerThread === threadNumber()) throw HandleError.alreadyConnected('it is its own');
  if (names.has(name)) throw HandleError.alreadyConnected('it has been connected');
  const gone = () => names.delete(name);
  const scheduler = outsideContexts(
    () => new Scheduler({ ...resolved, shards, capacity }, (events) => connectClient(known, resolved, events, gone)),
  );
  names.add(name);
  joinWarnings(known.warnings);
  return scheduler;
}
