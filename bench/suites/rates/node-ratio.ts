import { type Comparison, rowIn } from '../../engine/comparison.ts';
import type { Spread } from '../../engine/statistics.ts';
import { NODE } from './rate-subjects.ts';

/**
 * A subject's figure, of Node's. Undefined where Node's own is not above zero in every round: then it is lost in what
 * the driver's differs by, and a ratio to it says nothing.
 */
export function nodeRatio(comparison: Comparison, subject: string, key: string): Spread | undefined {
  const nodes = rowIn(comparison, NODE, key);
  if (nodes === undefined || nodes.value.least <= 0) return undefined;
  return rowIn(comparison, subject, key)?.ratio;
}
