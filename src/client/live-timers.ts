import type { TimerId } from '../timer-id.ts';
import { callbackName } from './callback-name.ts';
import type { ClientLane, TimerCallback } from './client-lane.ts';
import { callLater, type DeferredTimer } from './deferral.ts';
import { isToldWhenHandedBack } from './hand-back.ts';
import { hintOf } from './placement.ts';

/** A live timer, as `Scheduler.timers` shows it. */
export interface LiveTimer {
  id: TimerId;
  /** ms; of a scaled timer, by the factor of now. */
  deadline: number;
  /** Where its hint has placed it. */
  shard: number;
  /** Undefined where it has none. */
  label: string | undefined;
  /** The name of its callback: '' where it has no name, undefined where the timer has no callback. */
  callback: string | undefined;
  argument: unknown;
}

/** What `Scheduler.close` hands back: enough to give it to another scheduler. */
export interface UnfiredTimer {
  id: TimerId;
  deadline: number;
  /** Undefined where it has none, and where it is settled. */
  callback: TimerCallback<unknown> | undefined;
  argument: unknown;
  /**
   * A hint that stands for the one it was scheduled with, which is not kept: in a scheduler with as many shards it places the
   * timer on the same, and in one with more or fewer it spreads such timers evenly.
   */
  workerHint: number;
  /** Undefined where it has none. */
  label: string | undefined;
  /**
   * Whoever waited for it has been told, and nothing is left to be done: a timer of `timeout`, or of the drop-in functions.
   */
  isSettled: boolean;
}

/** Of a deferred timer that found no slot. */
const NO_ID = 0;

/** The lanes of a client. */
interface LanesOfClient {
  readonly isClosed: boolean;
  readonly lanes: readonly ClientLane[];
  readonly young: { promoteAll(): void };
}

/** See `Scheduler.timers`. */
export function* liveTimersOf(client: LanesOfClient): Generator<LiveTimer, void, undefined> {
  client.young.promoteAll();
  for (const lane of client.lanes) {
    const { shard, table } = lane;
    for (const slot of lane.liveSlots()) {
      if (client.isClosed) return;
      const label = lane.labels?.labelOf(slot)?.name;
      const argument = lane.argumentOf(slot);
      const callback = nameOf(lane.callbackOf(slot), argument);
      yield { id: table.idOf(slot), deadline: table.deadlineOf(slot), shard, label, callback, argument };
    }
  }
}

/** Of a deferred timer, the name of what it calls in the end. */
function nameOf(callback: TimerCallback<unknown> | undefined, argument: unknown): string | undefined {
  const called = callback === callLater ? (argument as DeferredTimer)._onTimeout : callback;
  return callbackName(called);
}

/** Every live timer, as they are handed back. `shards`: placements of the client. */
export function unfiredTimers(client: LanesOfClient, shards: number): UnfiredTimer[] {
  client.young.promoteAll();
  return client.lanes.flatMap((lane) => [...unfiredOf(lane, shards)]);
}

function* unfiredOf(lane: ClientLane, shards: number): Generator<UnfiredTimer> {
  const { shard, table } = lane;
  for (const slot of lane.liveSlots()) {
    const callback = lane.callbackOf(slot);
    const isSettled = isToldWhenHandedBack(callback);
    yield {
      id: table.idOf(slot),
      deadline: table.deadlineOf(slot),
      callback: isSettled ? undefined : callback,
      argument: lane.argumentOf(slot),
      workerHint: hintOf(shard, shards, slot),
      label: lane.labels?.labelOf(slot)?.name,
      isSettled,
    };
  }
  const workerHint = hintOf(shard, shards, 0);
  for (const { timer, deadline } of lane.nursery.unfired()) {
    const [callback, label] = [undefined, undefined];
    yield { id: NO_ID, deadline, callback, argument: timer, workerHint, label, isSettled: true };
  }
}
