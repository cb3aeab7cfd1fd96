import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'shardwheel-installed-'));

const run = (command: string, ...argv: string[]): string =>
  execFileSync(command, argv, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** The packed package, installed into a project that has nothing else. */
beforeAll(() => {
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root, stdio: 'ignore' });
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  run('npm', 'install', '--no-audit', '--no-fund', `./${tarball}`);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('brings the two libraries that the scheduler needs, and none of the command line', () => {
  const names = readdirSync(join(folder, 'node_modules')).filter((name) => !/^[.@]/.test(name));
  expect(names).toEqual(['comlink', 'piscina', 'shardwheel']);
});

test('npx shardwheel replay runs, and finds nothing early, lost or doubled', () => {
  const output = run('npx', 'shardwheel', 'replay', '--cps', '2000', '--seconds', '1', '--drain', '1', '--no-native');
  expect(output).toMatch(
    /^ok: 0 early, 0 lost, 0 doubled, 0 refused of [\d,]+ timers at 2,000 connections per second\.$/m,
  );
});
