import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readResults } from '../../bench/engine/results-file.ts';
import type { Suite } from '../../bench/engine/suite.ts';

// Threads load built JavaScript only.
const { suites } = (await import(new URL('../../dist/bench/suites.js', import.meta.url).href)) as { suites: Suite[] };
const { compare, requireAgreement } = (await import(
  new URL('../../dist/bench/engine/comparison.js', import.meta.url).href
)) as typeof import('../../bench/engine/comparison.ts');
const main = fileURLToPath(new URL('../../dist/bench/main.js', import.meta.url));

const bench = (...flags: string[]) =>
  promisify(execFile)(process.execPath, [main, ...flags]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code: code as number, stdout: stdout as string, stderr: stderr as string }),
  );

describe('every workload runs, and all who take part do the same work', () => {
  it.each(suites.map((suite) => [suite.name, suite] as const))('%s', { timeout: 120_000 }, async (_, suite) => {
    const checksums = new Map<string, [string, number]>();
    const round = new Map();
    const missing = await suite.absentees?.({ quick: true });
    const present = suite.subjects.filter(({ name, absent }) => absent === undefined && missing?.[name] === undefined);
    for (const { name } of present) {
      const figures = {};
      for (const part of suite.parts ?? ['']) {
        const measurement = await suite.run(name, { quick: true }, part);
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
    for (const code of ['W1', 'W2', 'W3', 'W4', 'W5', 'W6', ...'abcdefghijklmn']) expect(codes).toContain(code);
  });
});

describe('the command', () => {
  it('prints a table and writes results', { timeout: 60_000 }, async () => {
    const folder = mkdtempSync(`${tmpdir()}/bench-`);
    const { code, stdout } = await bench('W3', 'default', '--quick', '--json', `${folder}/results.json`);
    expect(code).toBe(0);
    expect(stdout).toContain('W3 a wheel fires a timer');
    const results = readResults(readFileSync(`${folder}/results.json`, 'utf8'));
    expect(results.comparisons.map(({ suite }) => suite)).toEqual(['wheel fire']);
    expect(results.targets.length).toBeGreaterThan(0);
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
