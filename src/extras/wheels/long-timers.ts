import type { TimerId } from '../../timer-id.ts';
import type { PinnedWheel } from './pinned-wheel.ts';
import type { FireHandler } from './timing-wheel.ts';

/** A value with a target that may lie beyond the wheel, or that needs more precision than a coarse level has. */
export interface LongTimer<T> {
  readonly target: number;
  readonly value: T;
}

/**
 * Schedules the first leg of the way to `target`.
 * @throws InvalidDeadlineError, CapacityExceededError.
 */
export function scheduleLong<T>(wheel: PinnedWheel<LongTimer<T>>, target: number, value: T): TimerId {
  return wheel.scheduleBestFit(target, { target, value }).id;
}

/**
 * A handler for advanceTo. It schedules timers again that have not reached their target, and passes on those that have.
 * Each leg has its own id.
 */
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
