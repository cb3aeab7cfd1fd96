import type { Verdict } from './ledger.ts';
import { mergedLateness } from './merged-lateness.ts';
import type { LoopResult, LoopState, ReplayResult } from './replay-result.ts';

const sumOf = <T>(values: readonly T[], figure: (value: T) => number): number =>
  values.reduce((sum, value) => sum + figure(value), 0);

const mostOf = <T>(values: readonly T[], figure: (value: T) => number): number => Math.max(...values.map(figure));

/** What all loops of a replay came to: sums; of times the longest; percentiles over what all have counted. */
export function mergedResult(loops: readonly LoopResult[]): Omit<ReplayResult, 'subject' | 'asked' | 'memory'> {
  const [{ cpu }] = loops;
  const [source, isTold] = [cpu.source, cpu.waiting !== undefined];
  return {
    threads: loops.length,
    connections: sumOf(loops, (loop) => loop.connections),
    reached: sumOf(loops, (loop) => loop.reached),
    arrivals: mostOf(loops, (loop) => loop.arrivals),
    seconds: mostOf(loops, (loop) => loop.seconds),
    armed: sumOf(loops, (loop) => loop.armed),
    moved: sumOf(loops, (loop) => loop.moved),
    cancelled: sumOf(loops, (loop) => loop.cancelled),
    peakLive: sumOf(loops, (loop) => loop.peakLive),
    verdict: mergedVerdict(loops),
    cpu: {
      thread: sumOf(loops, (loop) => loop.cpu.thread),
      // Each has measured the whole process, from the same moment to its own end.
      process: mostOf(loops, (loop) => loop.cpu.process),
      source,
      waiting: isTold ? sumOf(loops, (loop) => loop.cpu.waiting ?? 0) : undefined,
    },
    wakes: mostOf(loops, (loop) => loop.wakes), // of the process, as above
    longestBlock: mostOf(loops, (loop) => loop.longestBlock),
    longestLag: mostOf(loops, (loop) => loop.longestLag),
    closing: mostOf(loops, (loop) => loop.closing),
    strayed: sumOf(loops, (loop) => loop.strayed),
    checksum: sumOf(loops, (loop) => loop.checksum) | 0,
    own: mergedCounts(loops.map(({ own }) => own)),
  };
}

/** What all loops are doing: percentiles are those of the loop where they are worst. */
export function mergedState(states: readonly LoopState[]): Omit<LoopState, 'phase'> {
  return {
    now: mostOf(states, (state) => state.now),
    opened: sumOf(states, (state) => state.opened),
    live: sumOf(states, (state) => state.live),
    fired: sumOf(states, (state) => state.fired),
    lateness: {
      p50: mostOf(states, ({ lateness }) => lateness.p50),
      p99: mostOf(states, ({ lateness }) => lateness.p99),
      max: mostOf(states, ({ lateness }) => lateness.max),
    },
  };
}

function mergedVerdict(loops: readonly LoopResult[]): Verdict {
  const verdicts = loops.map(({ verdict }) => verdict);
  const latest = mostOf(verdicts, (verdict) => verdict.lateness.max);
  return {
    fired: sumOf(verdicts, (verdict) => verdict.fired),
    handedBack: sumOf(verdicts, (verdict) => verdict.handedBack),
    early: sumOf(verdicts, (verdict) => verdict.early),
    earliest: mostOf(verdicts, (verdict) => verdict.earliest),
    lost: sumOf(verdicts, (verdict) => verdict.lost),
    doubled: sumOf(verdicts, (verdict) => verdict.doubled),
    refused: sumOf(verdicts, (verdict) => verdict.refused),
    lateness: mergedLateness(
      loops.map(({ latenesses }) => latenesses),
      latest,
    ),
    latestAtStart: mostOf(verdicts, (verdict) => verdict.latestAtStart),
  };
}

/** A subject's own counts of all loops; the rest of what it says is that of the first, as the shards are the same. */
function mergedCounts(owns: readonly unknown[]): unknown {
  const [first] = owns;
  if (first === undefined || owns.length === 1) return first;
  const sums = (['size', 'scheduled', 'rescheduled', 'cancelled', 'delivered', 'stale'] as const).map((key) => [
    key,
    sumOf(owns, (own) => (own as Record<typeof key, number>)[key]),
  ]);
  return { ...first, ...Object.fromEntries(sums) };
}
