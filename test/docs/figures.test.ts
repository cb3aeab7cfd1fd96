import { parseHTML } from 'linkedom';
import { describe, expect, test } from 'vitest';
import { type Comparison, rowIn, subjectsIn } from '../../bench/engine/comparison.ts';
import { comparisonOf, figuresOf, withBlock } from '../../bench/engine/figures.ts';
import { releaseOf } from '../../bench/engine/release-results.ts';
import { releases, replayFiguresOf, replayFiles, replaySummaryOf } from '../../bench/engine/replay-figures.ts';
import type { Results } from '../../bench/engine/results.ts';
import { readReleases, readResults, releasesText, resultsText } from '../../bench/engine/results-file.ts';
import { figureBlocks, figurePlots } from '../../bench/figure-blocks.ts';
import type { Summary } from '../../bench/replay/summary.ts';
import { durableSuites } from '../../bench/suites/durable/durable-suites.ts';
import { faceFiguresOf } from '../../bench/suites/faces/face-figures.ts';
import { rateSubjects } from '../../bench/suites/rates/rate-subjects.ts';
import { rateSuites } from '../../bench/suites/rates/rate-suites.ts';
import { runtimes } from '../../bench/suites/runtimes/runtime-suite.ts';
import { slackSuites } from '../../bench/suites/scheduler/slack.ts';
import { suites } from '../../bench/suites.ts';
import { targets } from '../../bench/targets.ts';
import { read } from './documents.ts';

const RUNS = ['reference', 'reference-20', 'clients', 'steering', 'slack', 'runtimes'] as const;
const BY_RELEASE = ['durable', 'faces', 'loading', 'programs', 'rates'] as const;
const textOf = (name: string) => read(`bench/results/${name}.json`);
const run = (name: (typeof RUNS)[number]) => readResults(textOf(name));
const byRelease = (name: (typeof BY_RELEASE)[number]) => readReleases(textOf(name));
const reference = run('reference');
const isDurable = ({ suite }: { suite: string }) => suite.startsWith('durable ');

const blocks = figureBlocks(new URL('../../', import.meta.url)).map(
  ([path, block]) => [path, block.slice(0, block.indexOf(':')), block] as const,
);

test.each(blocks)('%s has the figures as they were measured: %s', (path, _, block) => {
  expect(read(path)).toContain(block);
});

const plots = figurePlots(new URL('../../', import.meta.url));

describe.each(plots)('%s', (path, svg) => {
  test('is drawn as it was measured', () => {
    expect(read(path)).toBe(svg);
  });

  test('says what it shows, and has a line and its points for each subject that has a ratio', () => {
    const { document } = parseHTML(svg);
    expect(document.querySelector('title')?.textContent).toContain('against the rate');
    const told = document.querySelector('desc')?.textContent ?? '';
    const [, ...drawn] = rateSubjects.map(({ name }) => name).filter((name) => name !== 'node:timers');
    const lines = document.querySelectorAll('[aria-label="line"] path').length;
    const panels = document.querySelectorAll('svg > svg').length;
    const subjects = told.match(new RegExp(`(${drawn.join('|')}) (?=\\d)`, 'g')) ?? [];
    expect([panels, lines]).toEqual([4, subjects.length]);
    for (const name of drawn) expect(told).toContain(`${name} `);
    const { 24: run } = byRelease('rates');
    const { ratio } = rowIn(comparisonOf(run, 'rates fires-1000/s'), 'inline', 'loop, cold')!;
    expect(told).toMatch(new RegExp(`inline [^;]*${ratio!.median.toFixed(2)} at 1,000`));
    const values = told.match(/\d at \d/g) ?? [];
    expect(document.querySelectorAll('[aria-label="dot"] path').length).toBe(values.length);
  });

  test('is shown, with words for who does not see it', () => {
    const picture = read('docs/performance.md').match(/<picture>[\s\S]*?<\/picture>/)?.[0] ?? '';
    expect(picture).toContain(`"./${path.replace('docs/', '')}"`);
    expect(picture).toMatch(
      /prefers-color-scheme: dark\)" srcset="[^"]*-dark\.svg"[\s\S]*alt="[^"]{40,}" src="[^"]*-light\.svg"/,
    );
  });
});

test('docs/performance.md says what each label means', () => {
  const text = read('docs/performance.md');
  const explained = [...text.matchAll(/^\| (\(\w\)|[WL]\d)( to L6)? \|/gm)].map(([, label]) => label);
  // Longer codes, `memory` and the like, say what they are.
  const codes = suites.flatMap(({ codes }) => codes).filter((code) => code.length < 3 && !/^L\d$/.test(code));
  const labels = codes.map((code) => (code.length === 1 ? `(${code})` : code));
  expect(labels.filter((label) => !explained.includes(label))).toEqual([]);
  expect(explained.length).toBeGreaterThan(20);
});

describe('the runs that are shown', () => {
  test.each([
    ...(['reference', 'slack', 'runtimes'] as const).map((name): [string, Results, string?] => [name, run(name)]),
    ['reference-20', run('reference-20'), '20'],
    ['steering', run('steering'), '24'],
    ...(['durable', 'faces', 'programs', 'rates'] as const).flatMap((name) =>
      Object.entries(byRelease(name)).map(([release, each]): [string, Results, string] => [name, each, release]),
    ),
  ])('%s: at full size, on the release that is said', (_, results, release = releaseOf(results)) => {
    expect([releaseOf(results), results.quick]).toEqual([release, false]);
  });

  test('replays went well, at full size', () => {
    for (const release of releases) {
      const { plain, contexts } = replayFiles(release);
      const [{ machine, options, ...first }, second]: Summary[] = [plain, contexts].map((path) =>
        JSON.parse(read(path)),
      );
      expect([first.correct, second.correct]).toEqual([true, true]);
      expect([options.cps, options.seconds, second.options.contexts]).toEqual([100_000, 10, true]);
      expect([options.json, second.options.json]).toEqual([undefined, undefined]);
      expect(Number.parseInt(machine.node.slice(1), 10)).toBe(release);
    }
  });

  test('measured every suite, subject and figure that they are to measure', () => {
    const suitesOf = ({ comparisons }: Results) => comparisons.map(({ suite }) => suite);
    expect(suitesOf(run('slack'))).toEqual(slackSuites.map(({ name }) => name));
    for (const each of Object.values(byRelease('durable'))) {
      expect(suitesOf(each)).toEqual(durableSuites.map(({ name }) => name));
      expect(each.comparisons.map(({ absent = {} }) => absent)).toEqual(durableSuites.map(() => ({})));
    }
    const isWhole = ({ figures, rows }: Comparison): boolean =>
      rows.length === figures.length * new Set(rows.map(({ subject }) => subject)).size;
    expect(run('steering').comparisons.filter((comparison) => !isWhole(comparison))).toEqual([]);
    const faces = byRelease('faces');
    expect(Object.keys(faces)).toEqual(['20', '22', '24', '26']);
    expect(faceFiguresOf(faces)).not.toMatch(/[|,/] –/); // no cell is empty
    for (const each of Object.values(byRelease('rates'))) {
      expect(suitesOf(each)).toEqual(rateSuites.map(({ name }) => name));
      for (const comparison of each.comparisons) {
        expect(subjectsIn(comparison)).toEqual(rateSubjects.map(({ name }) => name));
      }
    }
    for (const { comparisons } of Object.values(byRelease('programs'))) {
      for (const { rows } of comparisons) expect(rows.some(({ figure }) => figure === 'loop')).toBe(true);
    }
    const [{ rows, absent = {} }] = run('runtimes').comparisons;
    const listed = new Set([...rows.map(({ subject }) => subject), ...Object.keys(absent)]);
    expect(listed).toEqual(new Set(runtimes.subjects.map(({ name }) => name)));
  });

  test('measured every target', () => {
    const titlesOf = (of: typeof targets) => of.map(({ title }) => title);
    const measured = (results: Results) => titlesOf(results.targets.map(({ target }) => target));
    expect(measured(reference)).toEqual(titlesOf(targets.filter((target) => !isDurable(target))));
    expect(reference.targets.filter(({ state }) => state === 'not measured')).toEqual([]);
    for (const each of Object.values(byRelease('durable'))) {
      expect(measured(each)).toEqual(titlesOf(targets.filter(isDurable)));
    }
  });

  test('read and written again, are the same, with a line for each subject', () => {
    for (const name of RUNS) expect(resultsText(run(name))).toBe(textOf(name));
    for (const name of BY_RELEASE) expect(releasesText(byRelease(name))).toBe(textOf(name));
  });
});

test('every target names a suite, a subject, a figure and a base that there are', () => {
  for (const { suite: name, subject, figure, base } of targets) {
    const suite = suites.find((one) => one.name === name)!;
    expect(suite.subjects.map((one) => one.name)).toContain(subject);
    expect(suite.figures.map(({ key }) => key)).toContain(figure);
    if (base !== undefined) expect([suite.base, ...(suite.otherBases ?? [])]).toContain(base);
  }
  expect(targets.length).toBeGreaterThan(11);
});

test('a replay shows the column with shards where there is one, and is refused without the others', () => {
  const { plain: path } = replayFiles(24);
  const before: Summary = JSON.parse(read(path));
  const options = { ...before.options, shards: 1, loops: 2 };
  const plain: Summary = { ...before, options, shards: { ...before.shardwheel!, longestBlock: 1 } };
  const replays = [{ plain, contexts: plain }];
  const summary = replaySummaryOf(replays).split('\n');
  expect(summary[1]).toBe("| | Node's timers | shardwheel inline | | 1 shard on 2 event loops | |");
  expect(summary.find((line) => line.includes('stood still'))).toMatch(
    / \d+\.\d ms \| [\d.]+ times shorter \| 1\.00 ms \| \d+ times shorter \|$/,
  );
  const figures = replayFiguresOf(replays).split('\n');
  expect(figures[1]).toContain(': shardwheel inline / 1 shard on 2 event loops / node:timers.');
  expect(figures.find((line) => line.includes('longest'))).toMatch(/\| [\d.]+ \/ 1\.00 \/ \d+; /);
  for (const without of [{ shardwheel: undefined }, { native: undefined }]) {
    expect(() => replaySummaryOf([{ plain: { ...plain, ...without }, contexts: plain }])).toThrow('take it anew');
  }
});

test('figures are written between their two lines, and nowhere else', () => {
  const figures = figuresOf(reference);
  const [begin, end] = [figures.slice(0, figures.indexOf('\n')), figures.slice(figures.lastIndexOf('\n') + 1)];
  expect(withBlock(`before\n${begin}\nold\n${end}\nafter`, figures)).toBe(`before\n${figures}\nafter`);
  expect(() => withBlock('neither line', figures)).toThrow('to write between');
});
