import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'shardwheel-release-test-'));
const clone = join(folder, 'clone');

const git = (...argv: string[]) => execFileSync('git', ['-C', clone, ...argv], { encoding: 'utf8', stdio: 'pipe' });
const release = (...argv: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/build/release.mjs', ...argv], {
    cwd: clone,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return { status, stdout, stderr };
};

/** The clone with the files as they stand here, committed. */
beforeAll(() => {
  execFileSync('git', ['clone', '--quiet', root, clone]);
  git('checkout', '--quiet', '-B', 'main');
  git('config', 'user.name', 'A Tester');
  git('config', 'user.email', 'tester@example.org');
  for (const path of ['tools/build/release.mjs', 'package.json', 'CHANGELOG.md']) {
    writeFileSync(join(clone, path), readFileSync(join(root, path)));
  }
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'test: as it stands');
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  appendFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  [[], 'one version is wanted, got 0'],
  [['1.0.0', '2.0.0'], 'one version is wanted, got 2'],
  [['next'], 'a version looks like 1.2.3, got "next"'],
  [['0.0.9'], '0.0.9 is not above '],
  [['9.0.0', '--skip-tests'], '--skip-tests is for a dry run only'],
  [['9.0.0', '--dry'], "Unknown option '--dry'"],
])('refuses %j', (argv, why) => {
  const { status, stderr } = release(...argv);
  expect(stderr).toContain(`No release: ${why}`);
  expect(status).toBe(1);
});

test('refuses a tree with changes, another branch, a release that there is, a changelog without news', () => {
  const refusal = () => release('9.0.0', '--dry-run').stderr;
  writeFileSync(join(clone, 'new.txt'), '');
  expect(refusal()).toContain('there are changes that are not committed:\n?? new.txt');
  rmSync(join(clone, 'new.txt'));
  git('checkout', '--quiet', '-b', 'other');
  expect(refusal()).toContain('releases are made on main, this is other');
  git('checkout', '--quiet', 'main');
  git('tag', 'v9.0.0');
  expect(refusal()).toContain('9.0.0 has been released');
  git('tag', '--delete', 'v9.0.0');
  writeFileSync(join(clone, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- old\n');
  git('commit', '--quiet', '--all', '--message', 'test: nothing new');
  expect(refusal()).toContain('CHANGELOG.md lists nothing under "## Unreleased"');
  git('reset', '--quiet', '--hard', 'HEAD~1');
});

test('a dry run packs, checks and tries the tarball, and changes nothing', () => {
  const before = git('rev-parse', 'HEAD');
  const { status, stdout, stderr } = release('9.0.0', '--dry-run', '--skip-tests');
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/packing\nchecking with publint.*\nchecking with .*cli.*\ninstalling into an empty project\n/);
  expect(stdout).toContain('A dry run: nothing was committed or tagged.');
  expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]).toEqual([before, '', '']);
});
