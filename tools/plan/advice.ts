import { MAX_SLOT_BITS } from '../../src/timer-id.ts';
import { type Candidate, COMFORTABLE, isComfortable, type PlanRequest, titleOf } from './arrangements.ts';
import type { Costs } from './costs.ts';
import { liveTimers } from './planned-load.ts';

/** Share of an event loop's time below which its timers do not matter. */
const negligible = 0.05;
/** Maximum of live timers of one loop on one shard. */
const mostCapacity = 2 ** MAX_SLOT_BITS;
const defaultCapacity = 2 ** 22;

export interface Advice {
  readonly choice: Candidate;
  /** Of `createScheduler`; undefined for Node's own timers. */
  readonly options?: { readonly shards: number; readonly capacity: number };
  readonly sentences: readonly string[];
}

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

/**
 * Recommends a way to serve the timers: Node's own if they cost next to nothing; else, of the ways of shardwheel within
 * all limits, the one with the fewest cores; if there is none, the one with the highest rate.
 */
export function advise(request: PlanRequest, costs: Costs, all: readonly Candidate[]): Advice {
  const [native, ...own] = all;
  if (isComfortable(native, request) && native.prediction.timersCpu < negligible) {
    const share = percent(native.prediction.timersCpu);
    return {
      choice: native,
      sentences: [`You do not need shardwheel for this: Node's own timers take ${share} of each event loop.`],
    };
  }
  const fitting = own.filter((each) => isComfortable(each, request));
  const choice =
    fitting.length > 0
      ? fitting.reduce((least, each) => (each.prediction.busyCores < least.prediction.busyCores ? each : least))
      : own.reduce((most, each) => (each.highest > most.highest ? each : most));
  const options = optionsOf(choice, request);
  return {
    choice,
    options,
    sentences: [...reasons(choice, native, fitting.length > 0, request, costs), ...remarks(choice, request)],
  };
}

function optionsOf({ arrangement: { loops, shards } }: Candidate, { load }: PlanRequest) {
  const perLane = (2 * liveTimers(load)) / loops / Math.max(1, shards);
  const capacity = Math.min(mostCapacity, Math.max(1024, 2 ** Math.ceil(Math.log2(Math.max(1, perLane)))));
  return { shards, capacity };
}

function reasons(
  { arrangement, breaksAt, highest, prediction }: Candidate,
  native: Candidate,
  fits: boolean,
  { load, loops }: PlanRequest,
  { work }: Costs,
): string[] {
  const { busyCores, timersCpu } = prediction;
  const gain =
    `Timers take ${percent(timersCpu)} of each event loop, where Node's own take ` +
    `${percent(native.prediction.timersCpu)}; all threads together take ${busyCores.toFixed(2)} cores, with Node's ` +
    `${native.prediction.busyCores.toFixed(2)}.`;
  if (fits) return [gain];
  const scarce = breaksAt === 'memory' ? 'the memory is' : `the ${breaksAt} are`;
  const short =
    `No arrangement leaves room to spare (${percent(1 - COMFORTABLE)} of each loop and shard): ${titleOf(arrangement)} ` +
    `goes furthest, to ${Math.round(highest).toLocaleString('en-US')} connections per second, where ${scarce} used up.`;
  const perLoop = (prediction.loopCpu * loops) / COMFORTABLE;
  const needed = Math.ceil(Math.max(perLoop, ((load.cps / 1000) * work) / COMFORTABLE));
  return breaksAt === 'event loops' && needed > loops
    ? [short, `It wants ${needed} event loops, for ${percent(COMFORTABLE)} of each.`]
    : [short, gain];
}

function remarks({ arrangement: { loops, shards } }: Candidate, { cores, load }: PlanRequest): string[] {
  const perLane = liveTimers(load) / loops / Math.max(1, shards);
  return [
    ...(loops + shards > cores && shards > 0
      ? [
          `${loops} event loops and ${shards} shards are more than ${cores} cores: a shard takes its time from the loops.`,
        ]
      : []),
    ...(perLane > mostCapacity
      ? [
          `${Math.round(perLane).toLocaleString('en-US')} live timers for each loop and shard are more than one can hold (${mostCapacity.toLocaleString('en-US')}): take more shards.`,
        ]
      : []),
    ...(loops > 1 ? ['One scheduler for all loops: share() it, and connectScheduler() in each.'] : []),
    ...(2 * perLane > defaultCapacity
      ? [
          `Set the capacity: the default, ${defaultCapacity.toLocaleString('en-US')}, is less than twice what will be live.`,
        ]
      : []),
  ];
}
