import type { TimerId } from '../timer-id.ts';
import type { PinnedWheel } from './pinned/pinned-wheel.ts';
import type { FireHandler } from './timing-wheel.ts';

/** A value on its way to a target that may lie beyond the wheel, or is to be met more closely than a coarse level would. */
export interface LongTimer<T> {
  readonly target: number;
  readonly value: T;
}

/** Schedules the first leg of the way to `target`. */
export function scheduleLong<T>(wheel: PinnedWheel<LongTimer<T>>, target: number, value: T): TimerId {
  return wheel.scheduleBestFit(target, { target, value }).id;
}

/** A handler for advanceTo that schedules what has not reached its target again, and hands on what has. Each leg has its own id. */
export function untilTarget<T>(
  wheel: PinnedWheel<LongTimer<T>>,
  onFire: FireHandler<T>,
  onLeg?: (timer: LongTimer<T>, id: TimerId) => void,
): FireHandler<LongTimer<T>> {
  return (timer, id) => {
    if (wheel.now >= timer.target) {
      onFire(timer.value, id, timer.target);
      return;
    }
    const next = wheel.scheduleBestFit(timer.target, timer).id;
    onLeg?.(timer, next);
  };
}
