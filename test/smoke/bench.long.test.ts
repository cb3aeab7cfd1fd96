import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { releaseOf } from '../../bench/engine/release-results.ts';
import { readReleases, readResults } from '../../bench/engine/results-file.ts';
import type { Measurement, Suite } from '../../bench/engine/suite.ts';
import { suiteTable } from '../../bench/engine/tables.ts';
import { registryBinary } from '../../bench/replay/registry-binary.ts';
import { runNode } from '../fixtures/child-process.ts';

// Threads and other processes load built JavaScript only.
const built = (path: string) => import(new URL(`../../dist/bench/${path}`, import.meta.url).href);
const { suites }: { suites: Suite[] } = await built('suites.js');
const { compare, requireAgreement }: typeof import('../../bench/engine/comparison.ts') =
  await built('engine/comparison.js');
const { absentRuntimes, runtimeSubjects }: typeof import('../../bench/suites/runtimes/runtimes.ts') =
  await built('suites/runtimes/runtimes.js');

const bench = (...flags: string[]) => runNode(['dist/bench/main.js', ...flags]);
const folder = mkdtempSync(`${tmpdir()}/bench-`);
afterAll(() => rmSync(folder, { recursive: true }));

/** Of the suites that differ in their rate alone, the highest. */
const isOwnWorkload = ({ name }: Suite) => !name.startsWith('rates ') || name.endsWith('-100000/s');
const workloads = suites.filter(isOwnWorkload).map((suite) => [suite.name, suite] as const);

/** A measurement: anew if a busy machine stood still for as long as it lasts, so that nothing happened to divide by. */
async function measured(run: () => Measurement | Promise<Measurement>): Promise<Measurement> {
  for (let tries = 1; ; tries++) {
    const measurement = await run();
    if (tries === 5 || Object.values(measurement.figures).every(Number.isFinite)) return measurement;
  }
}

describe('every workload runs, and all who take part do the same work', () => {
  it.each(workloads)('%s', { timeout: 120_000 }, async (_, suite) => {
    const checksums = new Map<string, [string, number]>();
    const round = new Map();
    const missing = await suite.absentees?.({ quick: true });
    const present = suite.subjects.filter(({ name, absent }) => absent === undefined && missing?.[name] === undefined);
    for (const { name } of present) {
      const figures = {};
      for (const part of suite.parts ?? ['']) {
        const measurement = await measured(() => suite.run(name, { quick: true }, part));
        requireAgreement(suite, checksums, name, measurement);
        Object.assign(figures, measurement.figures);
      }
      round.set(name, { figures: { ...figures, ...suite.derive?.(figures as never, name) }, checksums: {} });
    }
    const { rows } = compare(suite, [round]);
    expect(rows.map(({ subject }) => subject)).toEqual(expect.arrayContaining(present.map(({ name }) => name)));
    for (const { value } of rows) expect(Number.isFinite(value.median)).toBe(true);
  });

  it('are the workloads W1 to W6 and (a) to (n)', () => {
    const codes = suites.flatMap((suite) => suite.codes);
    expect(codes).toEqual(expect.arrayContaining(['W1', 'W2', 'W3', 'W4', 'W5', 'W6', ...'abcdefghijklmn']));
  });
});

describe('the command', () => {
  it('prints tables and writes results, beside those of other releases', async () => {
    const [json, file] = [`${folder}/results.json`, `${folder}/faces.json`];
    writeFileSync(file, '{"9":{"date":"2020-01-01","comparisons":[]}}');
    const words = ['faces', '1k-varied', '--quick', '--rounds', '2'];
    const { code, stdout } = await bench(...words, '--json', json, '--by-release', file);
    expect(code).toBe(0);
    expect(stdout).toMatch(/× = node:timers +│ +node:timers +│ +shardwheel\/timers/); // figures stand below each other
    const results = readResults(readFileSync(json, 'utf8'));
    expect(results.command).toBe(`npm run bench -- ${words.join(' ')}`);
    const kept = { date: '2020-01-01', comparisons: [], targets: [] };
    expect(readReleases(readFileSync(file, 'utf8'))).toEqual({ 9: kept, [releaseOf(results)]: results });
    const [{ rows }] = results.comparisons;
    const timed = rows.filter(({ figure }) => ['clear + set', 'refresh', 'set + fire'].includes(figure));
    expect(timed.length).toBe(9);
    for (const { value } of timed) expect(value.least).toBeGreaterThan(0);
  });

  it('judges the targets of what it has measured', async () => {
    const { code, stdout } = await bench('W3', 'default', '--quick', '--json', `${folder}/fire.json`);
    expect(code).toBe(0);
    expect(stdout).toContain('W3 a wheel fires a timer');
    const { comparisons, targets } = readResults(readFileSync(`${folder}/fire.json`, 'utf8'));
    expect(comparisons.map(({ suite }) => suite)).toEqual(['wheel fire']);
    expect(targets.length).toBeGreaterThan(0);
  });

  it.each([[['--rounds', '0']], [['--rounds', 'many']], [['--bogus']], [['nothing-of-that-name']]])(
    'answers %j with one line and exit code 2',
    async (flags) => {
      const { code, stderr, stdout } = await bench(...flags);
      expect({ code, lines: stderr.trim().split('\n').length, stdout }).toEqual({ code: 2, lines: 1, stdout: '' });
    },
  );

  it('explains itself', async () => {
    const { code, stdout } = await bench('--help');
    expect(code).toBe(0);
    for (const { name } of suites) expect(stdout).toContain(name);
  });
});

describe('the plain load refuses timers that are', () => {
  it.each([
    ['lost', 'export const setTimeout = () => ({}), clearTimeout = () => {};', 'have not fired'],
    [
      'fired after they were cleared',
      `export const clearTimeout = () => {}, setTimeout = (callback, delay) =>
         globalThis.setTimeout(callback, delay > 9000 ? 1 : delay);`,
      'were cleared and fired',
    ],
  ])('%s', async (_, source, why) => {
    const module = `data:text/javascript,${encodeURIComponent(source)}`;
    const script = 'dist/bench/suites/runtimes/plain-load.js';
    const { code, stderr } = await runNode(['--expose-gc', script, module, '0.01']);
    expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
  });
});

describe('a runtime that is not to be had', () => {
  it('is told below the table, with its reason, and does not keep the others', async () => {
    const refused = () => Promise.reject(new Error('no such version'));
    const none = { ...runtimeSubjects[0], name: 'nobody', binary: refused };
    const own = { ...runtimeSubjects[0], name: 'this one', binary: async () => process.execPath };
    const absent = { nobody: 'no such version' };
    expect(await absentRuntimes([none, own], true)).toEqual(absent);
    expect(await absentRuntimes([own, none], false)).toEqual(absent);
    const suite = { ...suites.find(({ name }) => name === 'runtimes timers')!, subjects: [own, none], figures: [] };
    expect(suiteTable(suite, { ...compare(suite, []), absent })).toContain('nobody: not measured, no such version');
  });

  it('has a reason that names no place', async () => {
    const nothing = registryBinary({ package: 'node@0.0.0', where: ['node', '-p', '1'] }, true);
    await expect(nothing).rejects.toThrow(/^[\w', ]+$/);
  });
});
