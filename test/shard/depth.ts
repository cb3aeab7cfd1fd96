/**
 * How far the exhaustive suites go: with SHARDWHEEL_SLOW=1, as `.ci/run` and `npm run test:slow` have it, to the lengths that
 * stand in their tables; in `npm test` to one step less.
 */
const isDeep = process.env.SHARDWHEEL_SLOW === '1';

export const lengthOf = (length: number): number => (isDeep ? length : Math.max(1, length - 1));

/** A suite that skips its work is noticed. One step less makes some tenth of the cases. */
export const leastOf = (least: number): number => (isDeep ? least : Math.ceil(least / 15));
