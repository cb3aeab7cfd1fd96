import { MAX_SLACK } from '../lane/due-word.ts';
import type { TickScale } from '../time/tick-scale.ts';

/** Converts a slack in ms to whole ticks, rounded down so that no timer is later than that. NaN if it is invalid: see `slackRange`. */
export function slackInTicks(slack: unknown, scale: TickScale): number {
  if (typeof slack !== 'number' || !(slack >= 0)) return Number.NaN;
  const ticks = scale.tickAtOrBefore(slack);
  return ticks <= MAX_SLACK ? ticks : Number.NaN;
}

/** What a slack must be, for an error. */
export const slackRange = (scale: TickScale): string => `must be ms from 0 to ${scale.timeOf(MAX_SLACK)}`;
