import type { WallClock } from '../wall-clock.ts';

/** The scores of BullMQ's delayed jobs that are due in one ms. */
export const SCORES_PER_MS = 4096;

/**
 * The times that jobs have for BullMQ, which goes by `Date.now()`, in ms since 1970. What is due later by a manual
 * clock is put beyond every time that comes while a test runs, into the year 2096 and later; when the clock has come
 * there, it is brought back (scripts/promote.ts).
 */
const BEYOND = 4e12;

/** When BullMQ is to hand over what is due at a time of the clock. */
export function jobTime(clock: WallClock, due: number): number {
  if (!clock.isManual) return due;
  return due > clock.now() ? BEYOND + due : 0;
}

/** The scores of jobs that a manual clock has come to. */
export const scoresBeyond = (clock: WallClock): [least: number, most: number] => [
  BEYOND * SCORES_PER_MS,
  lastScore(BEYOND + clock.now()),
];

/** The last score of what is due by now. */
export const dueScore = (clock: WallClock): number =>
  clock.isManual ? scoresBeyond(clock)[1] : lastScore(clock.now());

const lastScore = (time: number): number => (Math.floor(time) + 1) * SCORES_PER_MS - 1;
