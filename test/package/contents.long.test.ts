import { execFileSync, spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { read, root } from '../docs/documents.ts';

const packageJson = JSON.parse(read('package.json'));

const argv = ['pack', '--dry-run', '--json', '--ignore-scripts'];
const output = execFileSync('npm', argv, { cwd: root, encoding: 'utf8' });
const [packed] = JSON.parse(output.slice(output.indexOf('[')));
const files: string[] = packed.files.map(({ path }: { path: string }) => path);

it('the package holds every entry point with its types, the worker, the command line and the licences, and nothing that measures', () => {
  const filesOf = (entry: unknown): string[] =>
    typeof entry === 'string' ? [entry.replace('./', '')] : Object.values(entry as object).flatMap(filesOf);
  const others = ['lib/worker.cjs', 'lib/working-directory.cjs', 'LICENSE', 'lib/LICENSES.txt'];
  expect(files).toEqual(expect.arrayContaining([...filesOf([packageJson.exports, packageJson.bin]), ...others]));
  expect(files.filter((path) => !/^(lib|docs)\/|^[A-Za-z]+(\.md|\.json)?$/.test(path))).toEqual([]);
});

it('the package is as small as a release demands, and its declarations do not reach the inside', () => {
  const { size, unpackedSize } = packed;
  for (const [what, bound] of Object.entries(JSON.parse(read('tools/build/package-bounds.json')))) {
    expect({ size, unpackedSize, files: files.length }[what], what).toBeLessThanOrEqual(bound as number);
  }
  const inside = ['client/client', 'assembly/coordinator', 'shard/build-shard', 'lane/timer-table'];
  expect(files.filter((path) => inside.some((name) => path.startsWith(`lib/types/${name}.`)))).toEqual([]);
  const declarations = files.filter((path) => path.startsWith('lib/types/'));
  expect(declarations.filter((path) => path.endsWith('.d.ts') && !path.startsWith('lib/types/entries/'))).toEqual([]);
  expect(declarations.length).toBeGreaterThan(100);
});

it('nothing that is packed names a source map, for none is', () => {
  expect(files.filter((path) => path.endsWith('.map'))).toEqual([]);
  const code = files.filter((path) => /^lib\/.*\.([cm]?[jt]s|css)$/.test(path));
  expect(code.length).toBeGreaterThan(100);
  expect(code.filter((path) => read(path).includes('sourceMappingURL='))).toEqual([]);
});

it('no link of the README leads out of the package', () => {
  const links = [...read('README.md').matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link);
  expect(links.length).toBeGreaterThan(12);
  expect(links.filter((link) => !files.includes(link))).toEqual([]);
});

it('the lock file names no place to download from', () => {
  expect(read('package-lock.json')).not.toContain('"resolved"');
});

it.each(['.', 'docs/site'])('in %s npm ci warns of nothing', (folder) => {
  const argv = ['ci', '--dry-run', '--offline', '--no-audit', '--no-fund'];
  const { status, stderr } = spawnSync('npm', argv, { cwd: `${root}${folder}`, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

// An optional part of a package that npm could not find is left out of the lock in silence, and then `npm ci` refuses
// the lock.
it.each(['package-lock.json', 'docs/site/package-lock.json'])(
  '%s has every part of each package, for all platforms',
  (lock) => {
    const packages: Readonly<Record<string, { optionalDependencies?: object }>> = JSON.parse(read(lock)).packages;
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`${path}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages),
      ),
    );
    expect(missing).toEqual([]);
    expect(Object.keys(packages).length).toBeGreaterThan(100);
  },
);
