import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Comparison } from '../../bench/engine/comparison.ts';
import { figuresOf, runOf, subjectsOf, withBlock } from '../../bench/engine/figures.ts';
import { releaseOf } from '../../bench/engine/release-results.ts';
import {
  type ReleaseReplays,
  releases,
  replayFiguresOf,
  replayFiles,
  replaySummaryOf,
} from '../../bench/engine/replay-figures.ts';
import { readReleases, readResults, releasesText, resultsText } from '../../bench/engine/results-file.ts';
import { durableSuites } from '../../bench/suites/durable/durable-suites.ts';
import { faceFiguresOf } from '../../bench/suites/faces/face-figures.ts';
import { loadingFiguresOf } from '../../bench/suites/loading/loading-figures.ts';
import { programsOf } from '../../bench/suites/programs/program-figures.ts';
import { runtimes } from '../../bench/suites/runtimes/runtime-suite.ts';
import { slackSuites } from '../../bench/suites/scheduler/slack.ts';
import { suites } from '../../bench/suites.ts';
import { targets } from '../../bench/targets.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const run = (name: string) => readResults(read(`bench/results/${name}.json`));
const byRelease = (name: string) => readReleases(read(`bench/results/${name}.json`));
const reference = run('reference');

/** Every figure of every subject. */
const isWhole = ({ figures, rows }: Comparison): boolean =>
  rows.length === figures.length * new Set(rows.map(({ subject }) => subject)).size;

describe('the figures that the documents show', () => {
  test('docs/performance.md has those of the reference run, and says what each label means', () => {
    const text = read('docs/performance.md');
    expect(text).toContain(figuresOf(reference));
    const explained = [...text.matchAll(/^\| (\(\w\)|[WL]\d)( to L6)? \|/gm)].map(([, label]) => label);
    // Longer codes, `memory` and the like, say what they are.
    const codes = suites.flatMap(({ codes }) => codes).filter((code) => code.length < 3 && !/^L\d$/.test(code));
    const labels = codes.map((code) => (code.length === 1 ? `(${code})` : code));
    expect(labels.filter((label) => !explained.includes(label))).toEqual([]);
    expect(explained.length).toBeGreaterThan(20);
  });

  test('README.md has those of the replay on the reference, docs/performance.md those on each release; all went well', () => {
    const replays = releases.map((release): ReleaseReplays => {
      const { plain, contexts } = replayFiles(release);
      return { plain: JSON.parse(read(plain)), contexts: JSON.parse(read(contexts)) };
    });
    expect(read('README.md')).toContain(replaySummaryOf(replays));
    expect(read('docs/performance.md')).toContain(replayFiguresOf(replays));
    for (const { plain, contexts } of replays) {
      expect([plain.correct, contexts.correct]).toEqual([true, true]);
      expect([plain.options.cps, plain.options.seconds, contexts.options.contexts]).toEqual([100_000, 10, true]);
    }
    expect(replays.map(({ plain }) => Number.parseInt(plain.machine.node.slice(1), 10))).toEqual([...releases]);
  });

  test('docs/figures.md has those of every subject, and of the targets on Node 20', () => {
    const onNode20 = run('reference-20');
    expect(read('docs/figures.md')).toContain(subjectsOf(reference));
    expect(read('docs/figures.md')).toContain(figuresOf(onNode20));
    expect([releaseOf(onNode20), onNode20.quick]).toEqual(['20', false]);
  });

  test('docs/figures.md has those of the run over event loops and shards', () => {
    expect(read('docs/figures.md')).toContain(runOf(run('clients'), 'clients'));
  });

  test('docs/figures.md has those of slack, at full size', () => {
    const slack = run('slack');
    expect(read('docs/figures.md')).toContain(runOf(slack, 'slack'));
    expect(slack.comparisons.map(({ suite }) => suite)).toEqual(slackSuites.map(({ name }) => name));
    expect(slack.quick).toBe(false);
  });

  test('docs/figures.md has those of seeing and steering, at full size', () => {
    const steering = run('steering');
    expect(read('docs/figures.md')).toContain(runOf(steering, 'steering'));
    expect([steering.quick, releaseOf(steering)]).toEqual([false, '24']);
    expect(steering.comparisons.filter((comparison) => !isWhole(comparison))).toEqual([]);
  });

  test('docs/figures.md has those of the drop-in timers on each release, at full size', () => {
    const faces = byRelease('faces');
    expect(read('docs/figures.md')).toContain(faceFiguresOf(faces));
    expect(Object.keys(faces)).toEqual(['20', '22', '24', '26']);
    for (const [release, { quick, ...rest }] of Object.entries(faces)) {
      expect([releaseOf({ quick, ...rest }), quick]).toEqual([release, false]);
    }
    expect(faceFiguresOf(faces)).not.toMatch(/[|,/] –/); // no cell is empty
  });

  test('docs/figures.md has those of loading', () => {
    expect(read('docs/figures.md')).toContain(loadingFiguresOf(byRelease('loading')));
  });

  test('docs/performance.md has those of the whole programs, docs/figures.md what stands behind them', () => {
    const results = byRelease('programs');
    expect(read('docs/performance.md')).toContain(programsOf(results));
    expect(read('docs/figures.md')).toContain(runOf(results[24], 'program-subjects'));
    for (const [release, { quick, comparisons, ...rest }] of Object.entries(results)) {
      expect([releaseOf({ quick, comparisons, ...rest }), quick]).toEqual([release, false]);
      for (const { rows } of comparisons) expect(rows.some(({ figure }) => figure === 'loop')).toBe(true);
    }
  });

  test('docs/durable.md has the targets of durable timers, docs/figures.md the rest, and those on Node 20', () => {
    const results = byRelease('durable');
    for (const [release, path, block] of [
      ['24', 'docs/durable.md', 'durable-reference'],
      ['20', 'docs/figures.md', 'durable'],
    ] as const) {
      const run = results[release];
      expect([releaseOf(run), run.quick]).toEqual([release, false]);
      expect(run.comparisons.map(({ suite }) => suite)).toEqual(durableSuites.map(({ name }) => name));
      expect(run.comparisons.map(({ absent = {} }) => absent)).toEqual(durableSuites.map(() => ({})));
      expect(read('docs/figures.md')).toContain(runOf(run, block));
      expect(read(path)).toContain(figuresOf(run, 'durable-targets'));
      const titles = targets.filter(({ suite }) => suite.startsWith('durable ')).map(({ title }) => title);
      expect(run.targets.map(({ target }) => target.title)).toEqual(titles);
    }
  });

  test('docs/figures.md has those of each runtime, or why there are none', () => {
    const results = run('runtimes');
    expect(read('docs/figures.md')).toContain(runOf(results, 'runtimes'));
    const [{ rows, absent = {} }] = results.comparisons;
    const listed = [...new Set(rows.map(({ subject }) => subject)), ...Object.keys(absent)];
    expect(listed.sort()).toEqual(runtimes.subjects.map(({ name }) => name).sort());
    expect(results.quick).toBe(false);
  });

  test('the reference run measured every target that has no run of its own, at full size', () => {
    expect(reference.quick).toBe(false);
    const measured = targets.filter(({ suite }) => !suite.startsWith('durable '));
    expect(reference.targets.map(({ target }) => target.title)).toEqual(measured.map(({ title }) => title));
    expect(reference.targets.filter(({ state }) => state === 'not measured')).toEqual([]);
  });

  test('every target names a suite, a subject, a figure and a base that there are', () => {
    for (const { suite: name, subject, figure, base } of targets) {
      const suite = suites.find((one) => one.name === name)!;
      const names = suite.subjects.map((one) => one.name);
      expect(names).toContain(subject);
      expect(suite.figures.map(({ key }) => key)).toContain(figure);
      if (base !== undefined) expect(suite.base).toBe(base);
    }
    expect(targets.length).toBeGreaterThan(11);
  });

  test('a file that is read and written again is the same, with a line for each subject', () => {
    for (const name of ['reference', 'reference-20', 'clients', 'steering', 'slack', 'runtimes']) {
      const text = read(`bench/results/${name}.json`);
      expect(resultsText(readResults(text))).toBe(text);
    }
    for (const name of ['durable', 'faces', 'loading', 'programs']) {
      const text = read(`bench/results/${name}.json`);
      expect(releasesText(readReleases(text))).toBe(text);
    }
  });

  test('are written between their two lines, and nowhere else', () => {
    const figures = figuresOf(reference);
    const [begin, end] = [figures.slice(0, figures.indexOf('\n')), figures.slice(figures.lastIndexOf('\n') + 1)];
    expect(withBlock(`before\n${begin}\nold\n${end}\nafter`, figures)).toBe(`before\n${figures}\nafter`);
    expect(() => withBlock('neither line', figures)).toThrow('to write between');
  });
});
