import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readReleases } from '../../bench/engine/results-file.ts';
import { runNode } from '../fixtures/child-process.ts';

// A copy of what a machine without the repository gets: nothing else resolves from there.
const folder = mkdtempSync(`${tmpdir()}/portable-`);
const program = `${folder}/dist/bench/portable/main.js`;
const file = `${folder}/results.json`;
const [release] = process.versions.node.split('.');

beforeAll(() => {
  // other tests have folders of their own in dist, and remove them meanwhile
  const built = ['bench', 'src', 'workers'].map((part) => `dist/${part}`);
  for (const path of [...built, 'lib', 'package.json', 'node_modules/comlink', 'node_modules/piscina']) {
    cpSync(path, `${folder}/${path}`, { recursive: true });
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the portable bench', () => {
  it.each([
    [['rates', 'pairs-100/s'], 6],
    [['auto', 'replay'], 3],
    [['steering', 'labels', 'group'], 2],
    [['scheduler', 'move', 'shardwheel'], 4],
    [['e'], 2],
  ])('measures %j without the repository, and writes it by release', async (words, subjects) => {
    const { code, stderr, stdout } = await runNode([
      ...[program, ...words, '--quick', '--rounds', '2', '--by-release', file],
    ]);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    expect(stdout).toContain('Written');
    const { command, comparisons, rounds } = readReleases(readFileSync(file, 'utf8'))[release];
    expect([command, rounds]).toEqual([`npm run bench -- ${words.join(' ')} --quick --rounds 2`, 2]);
    const [{ rows }, ...others] = comparisons;
    expect([others, new Set(rows.map(({ subject }) => subject)).size]).toEqual([[], subjects]);
  });

  it.each([[['rates']], [['--by-release', file]], [['--by-release', file, 'durable']]])(
    'says how it is called where it is called with %j',
    async (flags) => {
      const { code, stderr } = await runNode([program, ...flags]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('--by-release')]);
    },
  );
});
