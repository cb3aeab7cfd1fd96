import { expect, test } from 'vitest';
import type { Point, Sample } from '../../src/extras/dashboard/messages.ts';
import { Model, type View } from '../../src/extras/dashboard/page/model.ts';
import { LATENESS_BOUNDS, LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

const BOUNDS = LATENESS_BOUNDS.slice(0, -1);
const newModel = (points: Point[] = []) => new Model({ bounds: BOUNDS, points });

/** What a server says at a time, of a client that has counted so far. */
function pointAt(time: number, histogram: LatenessHistogram, more: Partial<Point> = {}): Point {
  const { buckets, max, sum } = histogram.summary();
  const late = { buckets: buckets.map(({ count }) => count), max, sum };
  const counts = { size: 0, scheduled: 0, rescheduled: 0, cancelled: 0, delivered: 0, stale: 0 };
  return { at: 1e12 + time, time, run: 1, ...counts, late, cpu: 0, active: 0, idle: 0, ...more };
}

function sampleAt(time: number, histogram: LatenessHistogram, more: Partial<Point> = {}, stats: object = {}): Sample {
  const all = { shards: [], clients: [], labels: [], lateness: histogram.summary(), ...stats };
  return { point: pointAt(time, histogram, more), stats: all, wheels: [], restarted: [] } as unknown as Sample;
}

const bucketOf = (lateness: number): number => LATENESS_BOUNDS.findIndex((bound) => lateness <= bound);

/** The least bound that a share of the latenesses does not exceed, by sorting. */
function dumbPercentile(latenesses: readonly number[], share: number): number {
  const sorted = [...latenesses].sort((a, b) => a - b);
  return LATENESS_BOUNDS[bucketOf(sorted[Math.ceil(sorted.length * share) - 1])];
}

test(`the last ten seconds, and the last one, are those of a list, also for who comes late, seed ${SEED}`, () => {
  const draws = new Draws(SEED);
  const histogram = new LatenessHistogram();
  const model = newModel();
  const points: Point[] = [];
  const all: { at: number; lateness: number }[] = [];
  let views: View[] = [];
  let last: number[] = [];
  for (let second = 0; second < 40; second++) {
    const at = second * 1000;
    const sample = sampleAt(at, histogram, { delivered: all.length });
    views = [model.take(sample), newModel(points).take(sample)];
    points.push(sample.point);
    for (const { rates, recent, lateness, seconds } of views) {
      expect([lateness?.count, rates?.delivered]).toEqual(
        second === 0 ? [undefined, undefined] : [last.length, last.length],
      );
      const since = Math.max(0, at - 10_000);
      const latest = all.filter((each) => each.at >= since).map(({ lateness }) => lateness);
      expect([recent?.count, seconds]).toEqual(second === 0 ? [undefined, 0] : [latest.length, (at - since) / 1000]);
      for (const [name, share] of Object.entries({ p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999 })) {
        const expected = latest.length === 0 ? 0 : Math.min(dumbPercentile(latest, share), histogram.max);
        if (recent !== undefined) expect(recent[name as 'p50']).toBe(expected);
      }
      const buckets = LATENESS_BOUNDS.map((_, bucket) => latest.filter((each) => bucketOf(each) === bucket).length);
      if (recent !== undefined) expect(recent.buckets).toEqual(buckets);
    }
    last = Array.from({ length: draws.below(200) }, () => {
      const span = draws.pick([0.4, 3, 900]);
      // Not at a bound, where the histogram counts a thousandth more or less.
      let lateness = draws.between(0, span);
      while (LATENESS_BOUNDS.some((bound) => Math.abs(lateness - bound) < bound * 0.01))
        lateness = draws.between(0, span);
      return lateness;
    });
    for (const lateness of last) {
      histogram.record(lateness);
      all.push({ at, lateness });
    }
  }
  expect(views[1].recent?.count).toBeGreaterThan(100);
  expect(model.trends.map(({ at }) => at)).toEqual(points.map(({ at }) => at));
});

test('rates are per second of the time that has passed, and the page keeps five minutes of them', () => {
  const histogram = new LatenessHistogram();
  const model = newModel();
  const shard = (turns: number, fired: number) => ({ shards: [{ shard: 3, turns, fired, commands: 0, cascaded: 0 }] });
  const take = (time: number, more: Partial<Point>, stats: object) =>
    model.take({ ...sampleAt(time, histogram, more, stats), wheels: [{ shard: 3, now: 0, levels: [], lanes: [] }] });
  expect(take(0, {}, shard(100, 50)).shards[0].rates).toBeUndefined();
  const counts = { scheduled: 1000, rescheduled: 300, cancelled: 200, delivered: 100 };
  const view = take(2000, { ...counts, cpu: 500_000, active: 200, idle: 1800 }, shard(400, 20));
  expect(view.rates).toEqual({ scheduled: 500, rescheduled: 150, cancelled: 100, delivered: 50 });
  expect(view.cores).toEqual({ process: 0.25, loop: 0.1 });
  expect(view.shards[0].rates).toEqual({ turns: 150, fired: 10, commands: 0, cascaded: 0 }); // its thread is a new one
  for (let second = 3; second < 400; second++) take(second * 1000, {}, shard(400, 20));
  expect(model.trends).toHaveLength(300);
  expect(take(400_000, { run: 2 }, shard(500, 30)).shards[0].rates).toBeUndefined();
});

test('what another run has counted is compared with nothing', () => {
  const histogram = new LatenessHistogram();
  const model = newModel();
  for (let i = 0; i < 10; i++) histogram.record(30);
  const before = { scheduled: 900, delivered: 10, run: 1 };
  for (const time of [0, 1000]) expect(model.take(sampleAt(time, histogram, before)).delivered).toBe(10);
  // The client with most of them has left.
  const left = new LatenessHistogram();
  left.record(0.3);
  const first = model.take(sampleAt(12_000, left, { scheduled: 5, delivered: 1, run: 2 }));
  expect([first.rates, first.cores, first.lateness, first.recent, first.seconds]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    0,
  ]);
  left.record(3);
  const second = model.take(sampleAt(13_000, left, { scheduled: 7, delivered: 2, run: 2 }));
  expect(second).toMatchObject({ rates: { scheduled: 2, delivered: 1 }, recent: { count: 1, p50: 3 }, seconds: 1 });
});

test('the run of one client has the percentiles of its histogram, that of several the bounds of buckets', () => {
  const histogram = new LatenessHistogram();
  for (let i = 1; i <= 100; i++) histogram.record((i - 0.5) / 10);
  const { p50, p99, sum } = histogram.summary();
  expect(newModel().take(sampleAt(0, histogram)).overall).toMatchObject({ count: 100, p50, p99, mean: sum / 100 });
  const shared = newModel().take(sampleAt(0, histogram, {}, { clients: [{ client: 0 }, { client: 1 }] }));
  expect(shared.overall).toMatchObject({ count: 100, p50: 5, p90: 9.95, max: 9.95, mean: sum / 100 });
  const none = newModel().take(sampleAt(0, new LatenessHistogram()));
  expect(none.overall).toMatchObject({ count: 0, mean: 0, p50: 0 });
});
