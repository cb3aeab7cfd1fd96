/** The middle of the values and how far they spread. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Precondition: at least one value. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, least: sorted[0], most: sorted[sorted.length - 1] };
}
