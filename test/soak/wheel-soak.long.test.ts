import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { SEED } from '../fixtures/draws.ts';

const main = fileURLToPath(new URL('../../dist/tools/soak/main.js', import.meta.url));
const run = (...argv: string[]) =>
  spawnSync(process.execPath, [main, 'wheel', ...argv], { encoding: 'utf8', timeout: 60_000 });

test('npm run soak -- wheel: as many moves as asked for, on two threads, none of which differs', () => {
  const { status, stdout } = run('--operations', '100000', '--threads', '2', '--seed', String(SEED));
  expect({ status, end: stdout.trimEnd().split('\n').at(-1) }).toEqual({ status: 0, end: 'No difference.' });
  const [, seed, operations] = /^Seed (\d+): ([\d,]+) operations in .* on 2 threads/m.exec(stdout) ?? [];
  expect(Number(seed)).toBe(SEED);
  expect(Number(operations.replaceAll(',', ''))).toBeGreaterThanOrEqual(100_000);
});

test('one world again', () => {
  const { status, stdout } = run('--world', '7', '--seed', String(SEED));
  expect(status).toBe(0);
  expect(stdout).toMatch(/│ pinned +│ +1 │/);
});

test.each([
  ['--operations', '0'],
  ['--threads', '65'],
  ['--minutes', '2'],
])('%s %s: one line on stderr, exit code 2', (...argv) => {
  const { status, stdout, stderr } = run(...argv);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^error: [^\n]+\n$/);
});
