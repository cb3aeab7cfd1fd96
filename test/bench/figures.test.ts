import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { durableSuites, durableTargets } from '../../bench/durable/durable-suites.ts';
import { faceFiguresOf } from '../../bench/faces/face-figures.ts';
import { faceTargets } from '../../bench/faces/face-suites.ts';
import { figuresOf, partOf, runOf, subjectsOf, withBlock } from '../../bench/figures.ts';
import { type Figure, held, type PlanResults } from '../../bench/plan/plan-check.ts';
import { planFiguresOf } from '../../bench/plan/plan-figures.ts';
import { programsOf } from '../../bench/programs/program-figures.ts';
import { programSuites } from '../../bench/programs/programs.ts';
import { type ReleaseResults, releaseOf } from '../../bench/release-results.ts';
import {
  type ReleaseReplays,
  releases,
  replayFiguresOf,
  replayFiles,
  replaySummaryOf,
} from '../../bench/replay-figures.ts';
import type { Results } from '../../bench/results.ts';
import { runtimes } from '../../bench/runtimes/runtime-suite.ts';
import { slackSuites } from '../../bench/scheduler/slack.ts';
import { steeringPages } from '../../bench/steering/steering-pages.ts';
import { suites } from '../../bench/suites.ts';
import { judge, targets } from '../../bench/targets.ts';
import { nativeWheels, nativeWheelsOf } from '../../bench/wheel/native-wheels.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const reference: Results = JSON.parse(read('bench/results/reference.json'));
const clients: Results = JSON.parse(read('bench/results/clients.json'));

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

  test('docs/figures.md has those of every subject, and of the targets on Node 20, judged as is done today', () => {
    const onNode20: Results = JSON.parse(read('bench/results/reference-20.json'));
    expect(read('docs/figures.md')).toContain(subjectsOf(reference));
    expect(read('docs/figures.md')).toContain(figuresOf(onNode20));
    expect(JSON.parse(JSON.stringify(judge(onNode20.comparisons)))).toEqual(onNode20.targets);
    expect([releaseOf(onNode20), onNode20.quick]).toEqual(['20', false]);
  });

  test('docs/figures.md has those of the run over event loops and shards, judged as is done today', () => {
    expect(read('docs/figures.md')).toContain(figuresOf(clients, 'clients-targets'));
    expect(read('docs/figures.md')).toContain(runOf(clients, 'clients'));
    expect(JSON.parse(JSON.stringify(judge(clients.comparisons)))).toEqual(clients.targets);
    expect(clients.targets.length).toBe(3);
  });

  test('docs/figures.md has what was foretold and what was measured, on one core and two, for each way to serve timers', () => {
    const plan: PlanResults = JSON.parse(read('bench/results/plan.json'));
    expect(read('docs/figures.md')).toContain(planFiguresOf(plan));
    const of = (figure: Figure) => plan.checks.filter((check) => check.figure === figure);
    for (const figure of held) {
      const where = of(figure).map(({ arrangement: { cores, loops, service } }) => [service, cores, loops].join(' '));
      expect(where).toEqual(
        of('loop').map(({ arrangement: { cores, loops, service } }) => [service, cores, loops].join(' ')),
      );
      expect(new Set(where).size).toBe(8);
    }
    expect(plan.rounds).toBeGreaterThanOrEqual(3);
  });

  test('docs/figures.md has those of slack, at full size', () => {
    const slack: Results = JSON.parse(read('bench/results/slack.json'));
    expect(read('docs/figures.md')).toContain(runOf(slack, 'slack'));
    expect(slack.comparisons.map(({ suite }) => suite)).toEqual(slackSuites.map(({ name }) => name));
    expect(slack.quick).toBe(false);
  });

  test.each(Object.entries(steeringPages))('%s has those of seeing and steering, at full size', (path, names) => {
    const steering: Results = JSON.parse(read('bench/results/steering.json'));
    expect(read(path)).toContain(runOf(partOf(steering, names), 'steering'));
    expect(steering.quick).toBe(false);
    expect([releaseOf(steering), steering.rounds]).toEqual(['24', expect.any(Number)]);
    for (const { suite, rows } of partOf(steering, names).comparisons) {
      const { figures, subjects } = suites.find(({ name }) => name === suite)!;
      const wanted = subjects.flatMap(({ name }) => figures.map(({ key }) => `${name}: ${key}`));
      expect(rows.map(({ subject, figure }) => `${subject}: ${figure}`).sort()).toEqual(wanted.sort());
    }
    expect(suites.filter(({ name }) => name.startsWith('steering ')).length).toBe(
      Object.values(steeringPages).flat().length,
    );
  });

  test('docs/figures.md has those of the drop-in timers on each release, at full size, judged as is done today', () => {
    const faces: ReleaseResults = JSON.parse(read('bench/results/faces.json'));
    expect(read('docs/figures.md')).toContain(faceFiguresOf(faces));
    expect(Object.keys(faces)).toEqual(['20', '22', '24', '26']);
    for (const [release, run] of Object.entries(faces)) {
      expect(releaseOf(run)).toBe(release);
      expect(run.quick).toBe(false);
      expect(JSON.parse(JSON.stringify(judge(run.comparisons)))).toEqual(run.targets);
      expect(run.targets.map(({ target }) => target.title)).toEqual(faceTargets.map(({ title }) => title));
      expect(run.targets.filter(({ state }) => state === 'not measured')).toEqual([]);
    }
    expect(faceFiguresOf(faces)).not.toMatch(/[|,/] –/); // no cell is empty
  });

  test('docs/performance.md has those of the whole programs, docs/figures.md what stands behind them', () => {
    const results: ReleaseResults = JSON.parse(read('bench/results/programs.json'));
    expect(read('docs/performance.md')).toContain(programsOf(results));
    expect(read('docs/figures.md')).toContain(runOf(results[24], 'program-subjects'));
    for (const [release, run] of Object.entries(results)) {
      expect([releaseOf(run), run.quick]).toEqual([release, false]);
      expect(run.comparisons.map(({ suite }) => suite)).toEqual(programSuites.map(({ name }) => name));
      for (const { suite, rows } of run.comparisons) {
        const { subjects } = programSuites.find(({ name }) => name === suite)!;
        const withLoop = rows.filter(({ figure }) => figure === 'loop').map(({ subject }) => subject);
        expect(withLoop).toEqual(subjects.map(({ name }) => name));
      }
    }
  });

  test('docs/durable.md has the targets of durable timers, docs/figures.md the rest, and those on Node 20', () => {
    const results: ReleaseResults = JSON.parse(read('bench/results/durable.json'));
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
      expect(run.targets.map(({ target }) => target.title)).toEqual(durableTargets.map(({ title }) => title));
    }
  });

  test('docs/figures.md has those of each runtime, or why there are none', () => {
    const results: Results = JSON.parse(read('bench/results/runtimes.json'));
    expect(read('docs/figures.md')).toContain(runOf(results, 'runtimes'));
    const [{ rows, absent = {} }] = results.comparisons;
    const listed = [...new Set(rows.map(({ subject }) => subject)), ...Object.keys(absent)];
    expect(listed.sort()).toEqual(runtimes.subjects.map(({ name }) => name).sort());
    expect(results.quick).toBe(false);
  });

  test('docs/figures.md has native wheels beside ours, each by its ratio to the same yardstick', () => {
    const native = nativeWheelsOf(reference);
    expect(read('docs/figures.md')).toContain(native);
    expect(native.split('\n').filter((line) => line.startsWith('| ')).length).toBe(
      1 + 2 + Object.keys(nativeWheels).length,
    );
    expect(native).toContain('| C++ ratas | 0.267× | 1.05× | 1.04× | 0.262× | 0.220× | 3.00× |');
    expect(native).not.toMatch(/\| \*\*.*–/); // ours are measured in every column
  });

  test('a run whose suites are no longer what they were is not shown', () => {
    const comparisons = [{ suite: 'gone', title: '', base: '', rows: [] }];
    expect(() => subjectsOf({ ...reference, comparisons })).toThrow('"gone"');
  });

  test('the reference run measured every target, at full size, and judged them as is done today', () => {
    expect(reference.quick).toBe(false);
    const hasRunOfItsOwn = ({ suite }: { readonly suite: string }) =>
      /^(linear|clients|faces|durable|loading) /.test(suite);
    const measured = targets.filter((target) => !hasRunOfItsOwn(target));
    expect(reference.comparisons.filter(hasRunOfItsOwn)).toEqual([]);
    expect(reference.targets.map(({ target }) => target.title)).toEqual(measured.map(({ title }) => title));
    expect(reference.targets.filter(({ state }) => state === 'not measured')).toEqual([]);
    expect(JSON.parse(JSON.stringify(judge(reference.comparisons)))).toEqual(reference.targets);
  });

  test('are written between their two lines, and nowhere else', () => {
    const figures = figuresOf(reference);
    const [begin, end] = [figures.slice(0, figures.indexOf('\n')), figures.slice(figures.lastIndexOf('\n') + 1)];
    expect(withBlock(`before\n${begin}\nold\n${end}\nafter`, figures)).toBe(`before\n${figures}\nafter`);
    expect(() => withBlock('neither line', figures)).toThrow('to write between');
  });
});
