import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const clone = join(temporaryFolder(), 'clone');

const git = (...argv: string[]) => execFileSync('git', ['-C', clone, ...argv], { encoding: 'utf8', stdio: 'pipe' });
const release = (...argv: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/build/release.mjs', ...argv], {
    cwd: clone,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return { status, stdout, stderr };
};

/** The clone with the files as they stand here, committed, and with something to release. */
beforeAll(() => {
  execFileSync('git', ['clone', '--quiet', root, clone]);
  git('checkout', '--quiet', '-B', 'main');
  git('config', 'user.name', 'A Tester');
  git('config', 'user.email', 'tester@example.org');
  writeFileSync(join(clone, 'package.json'), readFileSync(join(root, 'package.json')));
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  writeFileSync(join(clone, 'CHANGELOG.md'), changelog.replace(/^## \[Unreleased\]$/m, '$&\n\n- Something new.'));
  cpSync(join(root, 'tools/build'), join(clone, 'tools/build'), { recursive: true });
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'test: as it stands');
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  appendFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
}, 60_000);

test.each([
  [[], 'one version is wanted, got 0'],
  [['1.0.0', '2.0.0'], 'one version is wanted, got 2'],
  [['next'], 'a version looks like 1.2.3 or 1.2.3-rc.1, got "next"'],
  [['1.0.0-rc.01'], 'a version looks like 1.2.3 or 1.2.3-rc.1, got "1.0.0-rc.01"'],
  [['0.0.9'], '0.0.9 is not above '],
  [['0.1.0-rc.1'], '0.1.0-rc.1 is not above '],
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
  writeFileSync(join(clone, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n## 0.1.0\n\n- old\n');
  git('commit', '--quiet', '--all', '--message', 'test: nothing new');
  expect(refusal()).toContain('CHANGELOG.md lists nothing under "## [Unreleased]"');
  writeFileSync(join(clone, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n- more\n\n## [9.0.0]\n\n- new\n');
  git('commit', '--quiet', '--all', '--message', 'test: two sections for one release');
  expect(refusal()).toContain('CHANGELOG.md has "## [9.0.0]", so "## [Unreleased]" must be empty');
  git('reset', '--quiet', '--hard', 'HEAD~2');
});

test('a dry run packs, checks and tries the tarball, and changes nothing', () => {
  const state = () => [git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')];
  const before = state();
  const { status, stdout, stderr } = release('9.0.0', '--dry-run', '--skip-tests');
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/packing\nchecking with publint.*\nchecking with .*cli.*\ninstalling into an empty project\n/);
  expect(stdout).toContain('A dry run: nothing was committed or tagged.');
  expect(state()).toEqual(before);
});

test('a tarball above its bound is no release', () => {
  const path = join(clone, 'tools/build/package-bounds.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), files: 10 }));
  git('commit', '--quiet', '--all', '--message', 'test: a bound that is too low');
  const { status, stderr } = release('9.0.0', '--dry-run', '--skip-tests');
  expect(stderr).toMatch(/files of the package is \d+, and may be 10/);
  expect(status).toBe(1);
  git('reset', '--quiet', '--hard', 'HEAD~1');
});

/** What a function of the changelog's module makes of a text, in the clone. */
const made = (call: string, changelog: string) => {
  const program = `
    import { dated, notesOf, withReferences } from './tools/build/changelog.mjs';
    import { readFileSync } from 'node:fs';
    const changelog = readFileSync(0, 'utf8');
    process.stdout.write(${call});`;
  const argv = ['--input-type=module', '--eval', program];
  return execFileSync(process.execPath, argv, { cwd: clone, input: changelog, encoding: 'utf8', stdio: 'pipe' });
};

const written = `# Changelog

## [Unreleased]

- new, in [the guide](docs/guide.md#new)

## [9.0.0-rc.2] - 2026-11-27

- newer

## [9.0.0-rc.1] - 2026-11-26

- old

[Unreleased]: https://example.org/gone
`;

test('a release dates what is unreleased, and writes what each heading refers to: by tags, or by the commits that made it', () => {
  git('commit', '--quiet', '--allow-empty', '--message', 'release: make 9.0.0-rc.1');
  const first = git('rev-parse', '--short=12', 'HEAD').trim();
  git('tag', 'v9.0.0-rc.2');
  const text = made("withReferences(dated(changelog, '9.0.0', '2026-11-28'), '9.0.0')", written);
  expect(text).toContain('## [Unreleased]\n\n## [9.0.0] - 2026-11-28\n\n- new, in');
  const home = 'https://github.com/shardwheel/shardwheel';
  expect(text.split('\n').slice(-5)).toEqual([
    `[Unreleased]: ${home}/compare/v9.0.0...HEAD`,
    `[9.0.0]: ${home}/compare/v9.0.0-rc.2...v9.0.0`,
    `[9.0.0-rc.2]: ${home}/compare/${first}...v9.0.0-rc.2`,
    `[9.0.0-rc.1]: ${home}/tree/${first}`,
    '',
  ]);
  expect(made("withReferences(changelog, '9.0.0')", text)).toBe(text);
  expect(made("notesOf(changelog, '9.0.0')", text)).toBe(
    `- new, in [the guide](${home}/blob/v9.0.0/docs/guide.md#new)\n`,
  );
  git('tag', '--delete', 'v9.0.0-rc.2');
  expect(() => made("withReferences(changelog, '9.0.0')", text)).toThrow(
    '9.0.0-rc.2, which is no tag, and no commit has made it',
  );
  git('reset', '--quiet', '--hard', 'HEAD~1');
});

/** As semver.org orders them. */
const ordered =
  '0.9.9 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.2.0';

test('versions have the order that semver.org gives them', async () => {
  const { isAbove } = await import(new URL('../../tools/build/version-order.mjs', import.meta.url).href);
  const versions = ordered.split(' ');
  for (const [i, a] of versions.entries()) {
    for (const [j, b] of versions.entries()) expect([a, b, isAbove(a, b)]).toEqual([a, b, i > j]);
  }
});
