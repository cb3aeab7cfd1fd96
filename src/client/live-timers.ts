import type { TimerId } from '../timer-id.ts';
import type { Client } from './client.ts';
import type { ClientLane, TimerCallback } from './client-lane.ts';
import { SLOT } from './home/home-timer.ts';
import { callbackName } from './late-timers.ts';
import { hintOf } from './placement.ts';

/** A live timer, as `Scheduler.liveTimers` shows it. */
export interface LiveTimer {
  /** Undefined for a drop-in timer. */
  id: TimerId | undefined;
  /** In ms; for a scaled timer, by the present factor. */
  deadline: number;
  /** The shard on which its hint has placed it; undefined for a drop-in timer, which lives in its thread. */
  shard: number | undefined;
  /** Undefined where it has none; '(drop-in)' for a drop-in timer. */
  label: string | undefined;
  /** The name of its callback: '' if it has no name, undefined if the timer has no callback. */
  callback: string | undefined;
  argument: unknown;
  /** Of a repeating timer, in ms. */
  period: number | undefined;
}

/**
 * A timer that `Scheduler.close` hands back. Not in it: the settings of its label; the full delay of a scaled timer,
 * whose `deadline` is by the factor at the close; `missedCalls` and `overlap` of a repeating one.
 */
export interface UnfiredTimer {
  id: TimerId;
  deadline: number;
  /** Undefined if it has none, or is settled. */
  callback: TimerCallback<unknown> | undefined;
  argument: unknown;
  /**
   * A substitute for the original hint, which is not kept. In a scheduler with the same number of shards it places the
   * timer on the same shard; in any other it spreads such timers evenly.
   */
  workerHint: number;
  /** Undefined where it has none. */
  label: string | undefined;
  /** Of a repeating timer, in ms; `deadline` is its next call. */
  period: number | undefined;
  /**
   * Whether the timer needs no further work, since its promise has been settled: a timer of `sleep` or `withTimeout`.
   */
  isSettled: boolean;
}

/** See `Scheduler.liveTimers`. @internal */
export function* liveTimersOf(client: Client): Generator<LiveTimer, void, undefined> {
  for (const lane of client.lanes) {
    const { payload, shard, table } = lane;
    for (const slot of lane.liveSlots()) {
      if (client.isClosed) return;
      yield {
        id: table.idOf(slot),
        deadline: table.deadlineOf(slot),
        shard,
        label: labelOf(lane, slot),
        callback: lane.waiterOf(slot)?.call ?? callbackName(payload.callbackOf(slot)),
        argument: payload.argumentOf(slot),
        period: lane.periodOf(slot),
      };
    }
  }
  const label = client.home.label.name;
  for (const timer of client.home.live()) {
    if (client.isClosed) return;
    const callback = callbackName(timer._onTimeout);
    const deadline = client.home.deadlineOf(timer[SLOT]);
    yield {
      id: undefined,
      deadline,
      shard: undefined,
      label,
      callback,
      argument: timer,
      period: timer._repeat ?? undefined,
    };
  }
}

/** Returns every live timer, as `close` hands them back. `shards`: placements of the client. @internal */
export function unfiredTimers(client: Client, shards: number): UnfiredTimer[] {
  return client.lanes.flatMap((lane) => [...unfiredOf(lane, shards)]);
}

function* unfiredOf(lane: ClientLane, shards: number): Generator<UnfiredTimer> {
  const { payload, shard, table } = lane;
  for (const slot of lane.liveSlots()) {
    const argument = payload.argumentOf(slot);
    const isSettled = lane.waiterOf(slot)?.isSettledByClose === true;
    yield {
      id: table.idOf(slot),
      deadline: table.deadlineOf(slot),
      callback: isSettled ? undefined : payload.callbackOf(slot),
      argument,
      workerHint: hintOf(shard, shards, slot),
      label: labelOf(lane, slot),
      period: lane.periodOf(slot),
      isSettled,
    };
  }
}

/** Undefined where there is none. */
const labelOf = ({ slotLabels }: ClientLane, slot: number): string | undefined =>
  slotLabels?.labelOf(slot).name || undefined;
