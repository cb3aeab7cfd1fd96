import { readdirSync } from 'node:fs';
import { parseHTML } from 'linkedom';
import { describe, expect, test } from 'vitest';
import { type Comparison, rowIn, subjectsIn } from '../../bench/engine/comparison.ts';
import { comparisonOf, figuresOf, withBlock } from '../../bench/engine/figures.ts';
import { releaseOf } from '../../bench/engine/release-results.ts';
import type { Results } from '../../bench/engine/results.ts';
import { readReleases, readResults, releasesText, resultsText } from '../../bench/engine/results-file.ts';
import { figureBlocks, figurePlots } from '../../bench/figure-blocks.ts';
import { ratePictures, ratePlot } from '../../bench/plots/rate-plot.ts';
import { nameOf } from '../../bench/plots/themes.ts';
import { durableSuites } from '../../bench/suites/durable/durable-suites.ts';
import { faceFiguresOf } from '../../bench/suites/faces/face-figures.ts';
import { rateSubjects } from '../../bench/suites/rates/rate-subjects.ts';
import { rateSuites } from '../../bench/suites/rates/rate-suites.ts';
import { verdictOf } from '../../bench/suites/rates/rate-verdict.ts';
import { runtimes } from '../../bench/suites/runtimes/runtime-suite.ts';
import { replayFiguresOf } from '../../bench/suites/scheduler/replay-figures.ts';
import { replaySummaryOf } from '../../bench/suites/scheduler/replay-summary.ts';
import { slackSuites } from '../../bench/suites/scheduler/slack.ts';
import { suites } from '../../bench/suites.ts';
import { targets } from '../../bench/targets.ts';
import { read } from './documents.ts';

const PICTURES = ['live', 'lateness', 'loop'] as const;
const RUNS = [
  'reference',
  'reference-20',
  'reference-22',
  'reference-26',
  'wheels',
  'growth',
  'peers',
  'schedulers',
  'replay-elsewhere',
  'clients',
  'steering',
  'slack',
  'runtimes',
  ...PICTURES,
] as const;
const BY_RELEASE = ['durable', 'faces', 'loading', 'programs', 'rates', 'replay'] as const;
const RELEASES = ['20', '22', '24', '26'];
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

/** The documents that show a picture, by its name. */
const shownIn: Readonly<Record<string, readonly string[]>> = {
  rates: ['docs/performance.md'],
  'rates-short': ['README.md'],
  live: ['docs/performance.md'],
  lateness: ['docs/performance.md'],
  loop: ['docs/performance.md'],
  idea: ['README.md'],
};

describe.each(plots)('%s', (path, svg) => {
  const [, name] = /images\/(.*)-(?:light|dark)\.svg$/.exec(path) ?? [];

  test('is drawn as it was measured', () => {
    // two such texts side by side say nothing
    expect(read(path) === svg, 'npm run bench:figures draws another').toBe(true);
  });

  test('is an image by itself: well-formed, with a title and a description, and nothing that is loaded from elsewhere', () => {
    const { document } = parseHTML(svg);
    expect(document.querySelector('title')?.textContent?.length).toBeGreaterThan(15);
    expect(document.querySelector('desc')?.textContent?.length).toBeGreaterThan(100);
    expect(svg).not.toMatch(/href|<script|<image|url\(|NaN|undefined|–/);
    expect(svg.match(/<(\w+)(?=[\s>])/g)?.length).toBeGreaterThan(20);
  });

  test('is shown, with words for who does not see it', () => {
    expect(shownIn).toHaveProperty([name as string]);
    for (const document of shownIn[name as string]) {
      const pictures = read(document).match(/<picture>[\s\S]*?<\/picture>/g) ?? [];
      const picture = pictures.find((each) => each.includes(`/${path.replace('docs/', '')}"`)) ?? '';
      expect(picture, document).toMatch(
        /prefers-color-scheme: dark\)" srcset="[^"]*-dark\.svg"[\s\S]*alt="[^"]{40,}" src="[^"]*-light\.svg"/,
      );
      // npm shows README.md at an address of its own, from where a relative path of `srcset` leads nowhere.
      if (document === 'README.md') {
        expect(
          picture.match(/https:\/\/raw\.githubusercontent\.com\/shardwheel\/shardwheel\/main\/docs\/images\//g),
        ).toHaveLength(2);
      }
    }
  });
});

describe.each(plots.filter(([path]) => path.includes('/rates')))('%s', (path, svg) => {
  const { subjects, panels } = ratePictures[path.includes('short') ? 'rates-short' : 'rates'];

  test('has a line and its points for each subject that has a ratio', () => {
    const { document } = parseHTML(svg);
    const told = document.querySelector('desc')?.textContent ?? '';
    const names = subjects.map((subject) => nameOf[subject]);
    const drawn = document.querySelectorAll('[aria-label="line"] path').length;
    const lines = told.match(new RegExp(`(${names.join('|')}) (?=\\d)`, 'g')) ?? [];
    expect([document.querySelectorAll('svg > svg').length, drawn]).toEqual([panels.length, lines.length]);
    for (const name of names) expect(told).toContain(`${name} `);
    const { 24: run } = byRelease('rates');
    const { ratio } = rowIn(comparisonOf(run, 'rates fires-1000/s'), 'inline', 'loop, warm')!;
    expect(told).toMatch(new RegExp(`inline [^;]*${ratio!.median.toFixed(2)} at 1,000`));
    const values = told.match(/\d at \d/g) ?? [];
    expect(document.querySelectorAll('[aria-label="dot"] path').length).toBe(values.length);
  });
});

test('a mark in a rate plot stands where its ratio is', () => {
  const run = byRelease('rates')[24];
  const { document } = parseHTML(ratePlot(run, 'rates-short', 'light'));
  const [panel] = document.querySelectorAll('svg > svg');
  const ticks = [...panel.querySelectorAll('[aria-label="y-axis tick label"] text')].map((tick) => [
    Number.parseFloat(tick.textContent ?? ''),
    Number(/,\s*([\d.]+)\)/.exec(tick.getAttribute('transform') ?? '')?.[1]),
  ]);
  const { 1: at, 0.5: half } = Object.fromEntries(ticks) as Record<number, number>;
  const dots = [...panel.querySelectorAll('[aria-label="dot"] path')].map((dot) =>
    Number(/,\s*([\d.]+)\)/.exec(dot.getAttribute('transform') ?? '')?.[1]),
  );
  const { ratio } = rowIn(comparisonOf(run, 'rates fires-10/s'), 'inline', 'loop, warm')!;
  const expected = at - (half - at) * Math.log2(ratio!.median);
  expect(
    dots.some((y) => Math.abs(y - expected) < 0.6),
    `${expected} of ${dots}`,
  ).toBe(true);
});

test('docs/performance-internals.md says what each label means', () => {
  const text = read('docs/performance-internals.md');
  const explained = [...text.matchAll(/^\| (\(\w\)|W\d) \|/gm)].map(([, label]) => label);
  // Longer codes, `memory` and the like, say what they are.
  const codes = suites.flatMap(({ codes }) => codes).filter((code) => code.length < 3);
  const labels = codes.map((code) => (code.length === 1 ? `(${code})` : code));
  expect(labels.filter((label) => !explained.includes(label))).toEqual([]);
  expect(explained.length).toBeGreaterThan(20);
});

describe('whatever measures has a reader', () => {
  const results = readdirSync(new URL('../../bench/results/', import.meta.url)).filter((name) =>
    name.endsWith('.json'),
  );
  const kept = read('bench/results/.gitignore').match(/(?<=^!).*(?=\.json$)/gm) ?? [];
  const pattern = new RegExp(`^(${kept.join('|').replaceAll('*', '.*')})\\.json$`);
  const shown = results.filter((name) => pattern.test(name));
  const sources = read('bench/figure-blocks.ts');

  test('each run that is kept is shown by a document', () => {
    const unread = shown.filter((name) => !sources.includes(`'${name.replace('.json', '')}'`));
    expect(unread).toEqual([]);
    expect(shown.length).toBeGreaterThan(15);
  });

  test('each suite is of a run that is shown', () => {
    const measured = shown.flatMap((name) => {
      const text = read(`bench/results/${name}`);
      const runs = 'comparisons' in JSON.parse(text) ? [readResults(text)] : Object.values(readReleases(text));
      return runs.flatMap(({ comparisons }) => comparisons.map(({ suite }) => suite));
    });
    const unread = suites.map(({ name }) => name).filter((name) => !measured.includes(name));
    expect(unread).toEqual([]);
    expect(suites.length).toBeGreaterThan(40);
  });

  test('each folder of bench that is no suite is named where it is read', () => {
    const folders = readdirSync(new URL('../../bench/', import.meta.url), { withFileTypes: true });
    const own = ['engine', 'results', 'subjects', 'suites'];
    const measuring = folders.filter((each) => each.isDirectory() && !own.includes(each.name)).map(({ name }) => name);
    const texts = ['CONTRIBUTING.md', 'docs/performance-internals.md'].map(read).join();
    expect(measuring.filter((name) => !texts.includes(`bench/${name}`))).toEqual([]);
    expect(measuring).toContain('proxy');
  });
});

describe('the runs that are shown', () => {
  test.each([
    ...(['reference', 'wheels', 'growth', 'schedulers', 'slack', 'runtimes', ...PICTURES] as const).map(
      (name): [string, Results, string?] => [name, run(name)],
    ),
    ...(['20', '22', '26'] as const).map((release): [string, Results, string] => [
      `reference-${release}`,
      run(`reference-${release}`),
      release,
    ]),
    ['steering', run('steering'), '24'],
    ...(['durable', 'faces', 'programs', 'rates', 'replay'] as const).flatMap((name) =>
      Object.entries(byRelease(name)).map(([release, each]): [string, Results, string] => [name, each, release]),
    ),
  ])('%s: at full size, on the release that is said', (_, results, release = releaseOf(results)) => {
    expect([releaseOf(results), results.quick]).toEqual([release, false]);
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
    expect(Object.keys(faces)).toEqual(RELEASES);
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

  test('measured what there still is to measure: a suite, a subject or a figure that is gone has no figures', () => {
    const runs = [
      ...RUNS.map((name) => [name, run(name)] as const),
      ...BY_RELEASE.flatMap((name) =>
        Object.entries(byRelease(name)).map(([release, each]) => [`${name} ${release}`, each] as const),
      ),
    ];
    const gone = runs.flatMap(([name, { comparisons }]) =>
      comparisons.flatMap((comparison) => {
        const suite = suites.find((one) => one.name === comparison.suite);
        if (suite === undefined) return [`${name}: ${comparison.suite}`];
        const subjects = subjectsIn(comparison).filter(
          (subject) => !suite.subjects.some((one) => one.name === subject),
        );
        const figures = comparison.figures.filter(({ key }) => !suite.figures.some((one) => one.key === key));
        return [...subjects, ...figures.map(({ key }) => key)].map((what) => `${name}: ${comparison.suite}, ${what}`);
      }),
    );
    expect(gone).toEqual([]);
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

describe('the replays', () => {
  const replays = byRelease('replay');
  const { 24: ofReference } = replays;
  const withoutSuite = (gone: string) => ({
    ...replays,
    22: { ...replays[22], comparisons: replays[22].comparisons.filter(({ suite }) => suite !== gone) },
  });

  test('are of every release, on one machine', () => {
    expect(Object.keys(replays)).toEqual(RELEASES);
    const machines = Object.values(replays).map(({ machine: { cpu, cpus } }) => `${cpus} ${cpu}`);
    expect(new Set(machines).size).toBe(1);
  });

  test('have a column for each release: ours, that of Node, and of the driver where it is not taken off', () => {
    const lines = replayFiguresOf(replays).split('\n');
    expect(lines.find((line) => line.startsWith('| | '))).toMatch(
      /^\| \| Node 24\S* \| Node 20\S* \| Node 22\S* \| Node 26\S* \|$/,
    );
    const comparison = comparisonOf(ofReference, 'scheduler replay');
    const median = (subject: string, key: string) => rowIn(comparison, subject, key)!.value.median;
    const of = (key: string) => ['shards auto', 'node:timers', 'driver alone'].map((subject) => median(subject, key));
    const late = lines.find((line) => line.startsWith('| half of'))!.split(' | ')[1];
    expect(late.split(/ \/ |; /).map(Number)).toEqual(of('p50').map((value) => Number(value.toPrecision(3))));
    expect(lines.find((line) => line.startsWith('| event-loop CPU'))).not.toContain(';');
    for (const suite of ['scheduler replay', 'scheduler traced']) {
      expect(() => replayFiguresOf(withoutSuite(suite))).toThrow('take it anew');
    }
  });

  test('the summary has the median, what is worse than Node, and every release', () => {
    const elsewhere = run('replay-elsewhere');
    expect(elsewhere.machine.cpu).not.toBe(ofReference.machine.cpu);
    const lines = replaySummaryOf(replays, elsewhere).split('\n');
    const { value, ratio } = rowIn(comparisonOf(ofReference, 'scheduler replay'), 'shards auto', 'p50')!;
    expect(ratio!.median).toBeGreaterThan(1);
    expect(lines.find((line) => line.startsWith('| half of the timers'))).toContain(
      `| ${value.median.toFixed(2)} ms | ${ratio!.median.toFixed(2)}× |`,
    );
    expect(lines[1]).toContain('on Node 20, 22, 24 and 26');
    expect(lines.at(-2)).toMatch(/On 2 × Intel Xeon, [\d-]{10}, the first two factors were 0\.\d+× and 0\.\d+×\.$/);
    expect(() => replaySummaryOf(withoutSuite('scheduler replay'), elsewhere)).toThrow('take it anew');
  });
});

describe('what the rates say in words', () => {
  const at = (rate: number, least: number, most = least) => ({
    rate,
    ratio: { median: (least + most) / 2, least, most },
  });

  test.each([
    [
      [at(10, 2, 3), at(100, 1.2, 2), at(1000, 0.5, 0.9)],
      'more up to 100 a second, less from 1,000 on (2.5× at 10, 0.70× at 1,000)',
    ],
    [
      [at(10, 2), at(100, 0.9, 1.1), at(1000, 0.8, 1.1), at(10_000, 0.5)],
      'more up to 10 a second, about the same from 100 to 1,000, less from 10,000 on (2.0× at 10, 0.50× at 10,000)',
    ],
    [
      [at(10, 2), at(100, 0.9, 1.9), at(1000, 0.3, 1.1)],
      'more up to 10 a second, mostly more at 100, mostly less from 1,000 on (2.0× at 10, 0.70× at 1,000)',
    ],
    [[at(10, 0.9), at(100, 1.1)], 'no difference to speak of (0.90× at 10, 1.1× at 100 a second)'],
    [[at(10, 2), at(100, 1.5)], 'more at every rate (2.0× at 10, 1.5× at 100 a second)'],
  ])('%#', (points, words) => {
    expect(verdictOf(points, 'a second')).toBe(words);
  });
});

test('figures are written between their two lines, and nowhere else', () => {
  const figures = figuresOf(reference);
  const [begin, end] = [figures.slice(0, figures.indexOf('\n')), figures.slice(figures.lastIndexOf('\n') + 1)];
  expect(withBlock(`before\n${begin}\nold\n${end}\nafter`, figures)).toBe(`before\n${figures}\nafter`);
  expect(() => withBlock('neither line', figures)).toThrow('to write between');
});
