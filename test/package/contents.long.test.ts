import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packageJson = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

interface Packed {
  /** Bytes. */
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const pack = (): Packed => {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  });
  return JSON.parse(output.slice(output.indexOf('[')))[0];
};

it('the package holds every entry point with its types, the worker, the command line and the licences, and nothing that measures', () => {
  const files = pack().files.map(({ path }) => path);
  const filesOf = (entry: unknown): string[] =>
    typeof entry === 'string' ? [entry] : Object.values(entry as object).flatMap(filesOf);
  const entries = filesOf(packageJson.exports);
  for (const entry of entries) expect(files).toContain(entry.replace('./', ''));
  for (const path of Object.values(packageJson.bin as object)) expect(files).toContain(path.replace('./', ''));
  for (const path of ['lib/worker.cjs', 'lib/working-directory.cjs', 'LICENSE', 'lib/LICENSES.txt'])
    expect(files).toContain(path);
  expect(files.filter((path) => !/^(lib|docs)\/|^[A-Za-z]+(\.md|\.json)?$/.test(path))).toEqual([]);
});

it('a user installs the two libraries that the scheduler needs, and nothing else', () => {
  expect(Object.keys(packageJson.dependencies)).toEqual(['comlink', 'piscina']);
});

it('the lock file names no place to download from', () => {
  expect(readFileSync(`${root}package-lock.json`, 'utf8')).not.toContain('"resolved"');
});

// The modules, their CommonJS build, declarations for both, the command line with its pages, the worker, and the guides that errors
// name; what is long and for those who compare or contribute is linked, not packed. A release is held to the same bounds.
it('the package keeps its size', () => {
  const bounds = JSON.parse(readFileSync(`${root}tools/build/package-bounds.json`, 'utf8'));
  const { size, unpackedSize, files } = pack();
  expect(size).toBeLessThanOrEqual(bounds.size);
  expect(unpackedSize).toBeLessThanOrEqual(bounds.unpackedSize);
  expect(files.length).toBeLessThanOrEqual(bounds.files);
});

it('nothing that is packed names a source map, for none is', () => {
  const { files } = pack();
  expect(files.filter(({ path }) => path.endsWith('.map'))).toEqual([]);
  const code = files.filter(({ path }) => /^lib\/.*\.([cm]?[jt]s|css)$/.test(path));
  expect(code.length).toBeGreaterThan(100);
  const naming = code.filter(({ path }) => readFileSync(root + path, 'utf8').includes('sourceMappingURL='));
  expect(naming.map(({ path }) => path)).toEqual([]);
});

it('no link of the README leads out of the package', () => {
  const files = pack().files.map(({ path }) => path);
  const readme = readFileSync(`${root}README.md`, 'utf8');
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link);
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter((link) => !files.includes(link))).toEqual([]);
});

// An optional part of a package that npm could not find is left out of the lock in silence, and then `npm ci` refuses the lock.
it.each(['package-lock.json', 'docs/site/package-lock.json'])(
  '%s has every part of each package, for all platforms',
  (lock) => {
    interface Locked {
      readonly optionalDependencies?: Readonly<Record<string, string>>;
    }
    const packages: Readonly<Record<string, Locked>> = JSON.parse(readFileSync(root + lock, 'utf8')).packages;
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`${path}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages),
      ),
    );
    expect(missing).toEqual([]);
    expect(Object.keys(packages).length).toBeGreaterThan(100);
  },
);
