import type { ClientLane, TimerCallback } from '../../src/client/client-lane.ts';

/** Starts a timer on a lane that no client uses; its slot, or -1 when the table is full. */
export function scheduleOn(
  lane: ClientLane,
  deadline: number,
  due: number,
  callback?: TimerCallback<unknown>,
  argument?: unknown,
): number {
  lane.commands.reserve(1);
  const slot = lane.table.allocate(deadline, due);
  if (slot >= 0) lane.begin(slot, lane.table.tagOf(slot), callback, argument, undefined);
  return slot;
}
