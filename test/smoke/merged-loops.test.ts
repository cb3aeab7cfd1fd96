import { expect, test } from 'vitest';
import { Ledger } from '../../tools/replay/ledger.ts';
import { mergedResult } from '../../tools/replay/merged-loops.ts';
import type { LoopResult } from '../../tools/replay/replay-result.ts';
import { StepClock } from '../../tools/replay/step-clock.ts';
import { CONNECT } from '../../tools/replay/timer-kind.ts';

/** What a loop came to whose timers fired so many ms after their deadlines, one early and one lost besides. */
function loop(factor: number, latenesses: readonly number[]): LoopResult {
  let now = 0;
  const clock = new StepClock(() => now);
  const ledger = new Ledger(16, clock);
  for (const late of [-factor, ...latenesses]) {
    now = 0;
    clock.read();
    const timer = ledger.arm(0, CONNECT, 10);
    now = 10 + late;
    clock.read();
    ledger.fire(timer);
  }
  ledger.arm(0, CONNECT, 10);
  return {
    connections: factor,
    reached: 10 * factor,
    arrivals: factor,
    seconds: factor,
    armed: ledger.armed,
    moved: factor,
    cancelled: factor,
    peakLive: factor,
    verdict: ledger.verdict(),
    latenesses: ledger.latenesses,
    cpu: { thread: factor, process: 5 * factor, source: 'schedstat', waiting: factor },
    longestBlock: factor,
    longestLag: factor,
    closing: factor,
    strayed: factor,
    checksum: factor * 2 ** 30,
    own: { scheduled: factor, delivered: factor, shards: [] },
  };
}

test('of several: sums, the longest of times, percentiles over all', () => {
  const merged = mergedResult([loop(1, [1, 1, 1]), loop(3, [5, 5, 5, 7, 9])]);
  expect(merged).toMatchObject({
    threads: 2,
    connections: 4,
    reached: 40,
    armed: 12,
    seconds: 3,
    longestBlock: 3,
    closing: 3,
    strayed: 4,
    checksum: 0, // of 32 bits
    cpu: { thread: 4, process: 15, waiting: 4 },
    own: { scheduled: 4, delivered: 4, shards: [] },
  });
  expect(merged.verdict).toMatchObject({ fired: 10, early: 2, earliest: 3, lost: 2, lateness: { count: 10, max: 9 } });
  const { p50, p90 } = merged.verdict.lateness;
  expect([Math.floor(p50), Math.floor(p90)]).toEqual([1, 7]);
});
