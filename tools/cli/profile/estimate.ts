import { count, milliseconds } from '../../../bench/replay/format.ts';
import type { ProfileData } from '../../../src/extras/profile/profile-data.ts';
import type { Calibration, Estimate, TimerCosts, Verdict } from '../../../src/extras/profile/report-data.ts';

/** Below this share of the loop it would make no difference if timers were free. */
const NEGLIGIBLE = 0.01;
const SMALL = 0.02;
/** A pass of this many ms and callbacks is long because of their number. */
const LONG_PASS = 20;
const MANY = 1000;
/** Lifetimes are told apart by powers of two: these end at 4 ms, when a drop-in timer leaves its nursery. */
const YOUNG_POWERS = 3;
/** Busy ms below which shares mean nothing. */
const MIN_BUSY_MS = 20;
/** Seconds of recording after which a loop that is hardly busy counts as idle. */
const MIN_SECONDS = 2;

export function estimateOf(data: ProfileData, { node, shardwheel }: Calibration): Estimate | undefined {
  const { calls, totals, needlessClears, busy, lifetimes } = data;
  if (busy < MIN_BUSY_MS) return undefined;
  const ended = lifetimes.reduce((sum, each) => sum + each, 0);
  const young = ended === 0 ? 1 : lifetimes.slice(0, YOUNG_POWERS).reduce((sum, each) => sum + each, 0) / ended;
  const pair = (costs: TimerCosts): number => young * costs.young + (1 - young) * costs.old;
  const pairs = totals.created * calls.create.ns + (totals.cleared + needlessClears) * calls.clear.ns;
  const refreshes = totals.refreshed * calls.refresh.ns;
  // Sampled calls may cost more than the others: no more than all of the busy time can be theirs.
  const whole = Math.max(busy, (pairs + refreshes + totals.fired * node.fire) / 1e6);
  const share = (ns: number): number => ns / 1e6 / whole;
  return {
    calls: share(pairs + refreshes),
    firing: share(totals.fired * node.fire),
    withShardwheel: share(
      pairs * (pair(shardwheel) / pair(node)) +
        refreshes * (shardwheel.refresh / node.refresh) +
        totals.fired * shardwheel.fire,
    ),
    young,
  };
}

export const percent = (share: number): string => {
  const value = share * 100;
  return value < 0.05 && value > 0 ? '< 0.1 %' : `${value >= 10 ? value.toFixed(0) : value.toFixed(1)} %`;
};

export function verdictOf({ busy, passes, seconds, totals }: ProfileData, estimate: Estimate | undefined): Verdict {
  const { longest } = passes;
  const isLong = longest.milliseconds >= LONG_PASS && longest.fired >= MANY;
  const pass =
    `One pass of ${count(longest.fired)} callbacks kept the event loop from everything else for ` +
    `${milliseconds(longest.milliseconds)} ms. shardwheel hands over for about a millisecond at a time and lets I/O in between.`;
  if (totals.created === 0) {
    return { need: 'none', headline: 'You do not need shardwheel', reason: 'This event loop has set no timer.' };
  }
  const busyShare = busy / (seconds * 1000);
  if (!isLong && seconds >= MIN_SECONDS && busyShare < NEGLIGIBLE) {
    return {
      need: 'none',
      headline: 'You do not need shardwheel',
      reason: `This event loop was busy for ${percent(busyShare)} of the time, and timers can take no more. If it has more to do elsewhere, profile it under that load.`,
    };
  }
  if (estimate === undefined) {
    return {
      need: isLong ? 'passes' : 'unknown',
      headline: isLong ? 'shardwheel would shorten your longest passes' : 'No estimate',
      reason: isLong ? pass : 'Nothing was measured for an estimate, or the event loop was busy for less than 20 ms.',
    };
  }
  const { calls, firing, withShardwheel } = estimate;
  const now = calls + firing;
  const figures = `Timers take ${percent(now)} of this event loop's busy time; with shardwheel it would be about ${percent(withShardwheel)}.`;
  if (isLong) {
    return { need: 'passes', headline: 'shardwheel would shorten your longest passes', reason: `${pass} ${figures}` };
  }
  const gain = now - withShardwheel;
  if (now < NEGLIGIBLE) return { need: 'none', headline: 'You do not need shardwheel', reason: figures };
  if (gain < NEGLIGIBLE) {
    return { need: 'none', headline: 'You do not need shardwheel', reason: `${figures} That is no gain worth having.` };
  }
  if (gain < SMALL) return { need: 'little', headline: 'shardwheel would gain you little', reason: figures };
  return {
    need: 'gain',
    headline: `shardwheel would free about ${percent(gain)} of this event loop's busy time`,
    reason: figures,
  };
}

/** The remarks of every report on its own figures. */
export const limits: readonly string[] = [
  'Counts by delay are exact. Counts by call site come from samples, scaled to the exact totals.',
  'The share of calls comes from calls timed in the program, one by one, without the slowest and the fastest tenth: where a program does nothing but timers that is up to three times too much. The share of firing is the exact count times the cost of an empty callback, measured after the program.',
  'The estimate assumes that a call of yours would cost as much less, or more, with shardwheel as one in the measurement. It leaves out garbage collection, memory, and the CPU of a shard on another core.',
  'Callbacks themselves, with their ticks and microtasks, cost the same on any timers; the passes include them.',
  "Timers of Node's own parts (sockets, http, its fetch as far as it keeps its own) stay Node's with shardwheel; they are counted apart.",
];
