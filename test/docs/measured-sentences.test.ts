import { expect, test } from 'vitest';
import { rowIn } from '../../bench/engine/comparison.ts';
import { comparisonOf } from '../../bench/engine/figures.ts';
import { readReleases } from '../../bench/engine/results-file.ts';
import { nodeRatio } from '../../bench/suites/rates/node-ratio.ts';
import { read } from './documents.ts';

// Tables are written from the results; what a sentence says of them is typed, and held to them here.
const byRelease = (name: string) => readReleases(read(`bench/results/${name}.json`));

test('what performance.md and faq.md say of contexts holds in the run', () => {
  const replays = byRelease('replay');
  const ratio = (release: string, key: string) =>
    rowIn(comparisonOf(replays[release], 'scheduler traced'), 'shards auto', key)!.ratio!.median;
  for (const release of ['20', '22']) {
    expect(ratio(release, 'bytes')).toBeLessThan(0.7);
    expect(ratio(release, 'loop')).toBeGreaterThan(0.75);
    expect(ratio(release, 'p99')).toBeGreaterThan(1);
  }
  for (const release of ['24', '26']) expect(ratio(release, 'loop')).toBeLessThan(0.5);
  const texts = ['docs/performance.md', 'docs/faq.md'].map((path) => read(path).replace(/\s+/g, ' '));
  expect(texts[0]).toContain('there shardwheel saves memory, and little CPU or none');
  expect(texts[1]).toContain('on Node 20 and 22 a context costs each timer about what shardwheel saves');
});

test('what performance.md says of a registered proxy holds in the run', () => {
  expect(read('docs/performance.md').replace(/\s+/g, ' ')).toContain(
    'it costs more at 5,000 and at 20,000 connections a second, as the table says. With fewer',
  );
  const { 24: rates } = byRelease('rates');
  const ratioAt = (rate: number) => nodeRatio(comparisonOf(rates, `rates replay-${rate}/s`), 'registered', 'loop');
  for (const rate of [5000, 20_000]) expect(ratioAt(rate)!.median).toBeGreaterThan(1.15);
  for (const rate of [500, 1000]) expect(ratioAt(rate)).toBeUndefined();
  for (const rate of [50_000, 100_000]) expect(ratioAt(rate)!.median).toBeLessThan(1);
});

test('what performance.md says of a registered program whose timers fire holds in the run', () => {
  const said = /Where timers fire alone it costs about what Node's timers cost \((.+?)× to (.+?)×\)/;
  const [, least, most] = read('docs/performance.md').replace(/\s+/g, ' ').match(said)!.map(Number);
  const { 24: rates } = byRelease('rates');
  const ratios = [10, 100, 1000, 10_000, 100_000].flatMap((rate) =>
    ['loop, warm', 'loop, cold'].map((figure) => {
      const comparison = comparisonOf(rates, `rates fires-${rate}/s`);
      return nodeRatio(comparison, 'registered', figure)!.median;
    }),
  );
  expect([Math.min(...ratios), Math.max(...ratios)].map((ratio) => Math.round(ratio * 10) / 10)).toEqual([least, most]);
});

test('what README and proxies.md say of the rate of one event loop is the table of the examples', () => {
  for (const path of ['README.md', 'docs/proxies.md']) {
    expect(read(path).replace(/\s+/g, ' ')).toMatch(/one event loop .{0,40}takes \[four to five thousand\]/i);
  }
  const rows = [...read('examples/README.md').matchAll(/^\| Node [\d.]+, limits \| ([\d,]+) /gm)];
  const rates = rows.map(([, rate]) => Number(rate.replace(',', '')));
  expect(rates.length).toBe(2);
  expect(rates.filter((rate) => rate < 4000 || rate > 5000)).toEqual([]);
});

test('what decide.md says of a thread where timers only fire holds in the run', () => {
  expect(read('docs/decide.md').replace(/\s+/g, ' ')).toContain(
    'at 1,000 to 100,000 a second a third to a half of what they cost the loop inline, about two hundredths of a core at most',
  );
  const { 24: rates } = byRelease('rates');
  for (const rate of [1000, 10_000, 100_000]) {
    const comparison = comparisonOf(rates, `rates fires-${rate}/s`);
    const median = (subject: string, figure: string) => rowIn(comparison, subject, figure)!.value.median;
    const [inline, thread] = ['inline', '1 shard'].map((subject) => median(subject, 'loop, warm'));
    const saved = 1 - thread / inline;
    expect([rate, saved > 0.3 && saved < 0.55]).toEqual([rate, true]);
    expect((inline - thread) * rate).toBeLessThan(0.025e9);
    expect(median('1 shard', 'process, warm')).toBeGreaterThan(median('inline', 'process, warm'));
  }
});

test('what README and performance.md say of whole programs holds in the run', () => {
  const { 24: run } = byRelease('programs');
  const ratio = (suite: string, subject: string, figure: string) =>
    rowIn(comparisonOf(run, `programs ${suite}`), subject, figure)!.ratio!.median;
  const performance = read('docs/performance.md').replace(/\s+/g, ' ');
  expect(performance).toContain('takes less than half of the CPU and two fifths of the memory');
  for (const [figure, least, most] of [
    ['loop', 0.35, 0.5],
    ['process', 0.35, 0.5],
    ['bytes', 0.35, 0.45],
  ] as const) {
    const part = ratio('map', 'Map + schedule, shardwheel, inline', figure);
    expect([figure, part > least && part < most]).toEqual([figure, true]);
  }
  expect(performance).toContain("The longest wait is a fraction of Node's, and the CPU is less as well.");
  expect(ratio('burst', 'shardwheel/timers', 'p99')).toBeLessThan(0.5);
  expect(ratio('burst', 'shardwheel/timers', 'process')).toBeLessThan(0.9);
  expect(read('README.md').replace(/\s+/g, ' ')).toContain('no gain for an MQTT broker and a WebSocket server');
  for (const suite of ['broker', 'heartbeats']) {
    expect(Math.abs(ratio(suite, 'shardwheel/timers', 'loop') - 1)).toBeLessThan(0.05);
  }
});
