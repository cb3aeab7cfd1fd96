import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { burdenIndex, SMALL_WHEEL } from '../fixtures/burden-index.ts';
import { program, wentWell } from './fired-on-threads.ts';
import { InstalledProject } from './installed-project.ts';

/** Each builds `app.js` into its folder, by the bundler's own defaults for Node. */
const builds: { name: string; packages: string[]; script: string; results: string[] }[] = [
  {
    name: 'esbuild',
    packages: ['esbuild@0.28.2'],
    script: `
      import { build } from 'esbuild';
      const common = { entryPoints: ['app.js'], bundle: true, platform: 'node', logLevel: 'warning' };
      await build({ ...common, format: 'esm', outfile: 'esbuild/app.mjs' });
      await build({ ...common, format: 'cjs', outfile: 'esbuild/app.cjs' });
      await build({ ...common, format: 'cjs', minify: true, outfile: 'esbuild/small.cjs' });`,
    results: ['app.mjs', 'app.cjs', 'small.cjs'],
  },
  {
    name: 'rollup',
    packages: [
      'rollup@4.68.7',
      '@rollup/plugin-node-resolve@16',
      '@rollup/plugin-commonjs@29',
      '@rollup/plugin-json@6',
    ],
    script: `
      import { rollup } from 'rollup';
      import commonjs from '@rollup/plugin-commonjs';
      import json from '@rollup/plugin-json';
      import resolve from '@rollup/plugin-node-resolve';
      const onwarn = ({ code, message }) => code !== 'CIRCULAR_DEPENDENCY' && console.error(message);
      const bundle = await rollup({ input: 'app.js', plugins: [resolve(), commonjs(), json()], onwarn });
      await bundle.write({ file: 'rollup/app.mjs', format: 'es' });
      await bundle.write({ file: 'rollup/app.cjs', format: 'cjs' });`,
    results: ['app.mjs', 'app.cjs'],
  },
  {
    name: 'vite',
    packages: ['vite@8.3.8'],
    script: `
      import { build } from 'vite';
      const common = { configFile: false, logLevel: 'warn' };
      await build({ ...common, build: { ssr: 'app.js', outDir: 'vite/all' }, ssr: { noExternal: true } });
      await build({ ...common, build: { ssr: 'app.js', outDir: 'vite/own' } });`,
    results: ['all/app.js', 'own/app.js'],
  },
  {
    name: 'webpack',
    packages: ['webpack@5.112.2'],
    script: `
      import { resolve } from 'node:path';
      import webpack from 'webpack';
      const path = resolve('webpack');
      const esm = { experiments: { outputModule: true }, output: { path, filename: 'app.mjs', module: true } };
      for (const given of [esm, { output: { path, filename: 'app.cjs' } }]) {
        const stats = await new Promise((resolve, reject) =>
          webpack({ mode: 'production', target: 'node', entry: './app.js', ...given }, (error, stats) => (error ? reject(error) : resolve(stats))),
        );
        if (stats.hasErrors() || stats.hasWarnings()) console.error(stats.toString({ all: false, errors: true, warnings: true }));
      }`,
    results: ['app.mjs', 'app.cjs'],
  },
  {
    name: 'ncc',
    packages: ['@vercel/ncc@0.45.0'],
    script: `
      import { mkdirSync, writeFileSync } from 'node:fs';
      import { resolve } from 'node:path';
      import ncc from '@vercel/ncc';
      const { code } = await ncc(resolve('app.js'), { quiet: true, cache: false });
      mkdirSync('ncc', { recursive: true });
      writeFileSync('ncc/app.js', code);`,
    results: ['app.js'],
  },
];

const project = new InstalledProject(...builds.flatMap(({ packages }) => packages));
project.write('app.js', program);
/** Where no package is to be found. */
const elsewhere = mkdtempSync(join(tmpdir(), 'shardwheel-elsewhere-'));
afterAll(() => rmSync(elsewhere, { recursive: true }));

describe.each(builds)('$name', ({ name, script, results }) => {
  beforeAll(() => {
    project.write(`build-with-${name}.js`, script);
    const { status, stderr } = project.try('node', [`build-with-${name}.js`]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  }, 100_000);

  test.each(results)('%s fires timers on threads, and ends by itself', (result) => {
    expect(JSON.parse(project.run('node', [join(name, result)]))).toEqual(wentWell);
  });
});

test('on a machine where the package is not installed, one error says what to do', () => {
  // The bundles of vite's own defaults import the package: there is nothing of it in them.
  const bundles = builds.flatMap(({ name, results }) => results.map((result) => join(name, result)));
  const whole = bundles.filter((path) => path !== join('vite', 'own/app.js'));
  cpSync(join(project.folder, 'package.json'), join(elsewhere, 'package.json'));
  for (const path of whole) cpSync(join(project.folder, path), join(elsewhere, path));
  const away = `${project.folder}-away`;
  renameSync(project.folder, away); // some bundlers write down where they found the package
  try {
    for (const path of whole) {
      const { status, stdout, stderr } = project.try('node', [path], elsewhere);
      expect({ path, status, stdout }).toEqual({ path, status: 1, stdout: '' });
      expect(stderr).toMatch(/^The file of shardwheel's threads was not found from /);
      expect(stderr).toContain("external: ['shardwheel']");
      expect(stderr).toContain('createScheduler({ thread: { workerUrl: new URL(');
    }
  } finally {
    renameSync(away, project.folder);
  }
}, 60_000);

test('without threads nothing has to be found; where they may be started, their lack is told once', () => {
  project.write(
    'small.js',
    `import { createScheduler } from 'shardwheel';
     const scheduler = createScheduler({ shards: JSON.parse(process.argv[2]), wheel: ${JSON.stringify(SMALL_WHEEL)} });
     while (scheduler.now() < process.argv[3]) await (${burdenIndex})(scheduler);
     scheduler.scheduleAfter(1, 20, async () => console.log('fired', (await scheduler.stats()).serving.by));`,
  );
  const bundled = join(elsewhere, 'small.mjs');
  project.run('npx', ['esbuild', 'small.js', '--bundle', '--platform=node', '--format=esm', `--outfile=${bundled}`]);
  const start = (shards: number | string, ms = 0) =>
    project.try('node', [bundled, JSON.stringify(shards), `${ms}`], elsewhere);
  expect(start(0)).toMatchObject({ status: 0, stdout: 'fired inline\n', stderr: '' });
  expect(start('auto')).toMatchObject({ status: 0, stdout: 'fired inline\n', stderr: '' }); // none is wanted
  const { status, stdout, stderr } = start('auto', 1000);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'fired inline\n' });
  expect(stderr.match(/ShardInlineError: All shards run inline.*no thread can be started/g)).toHaveLength(1);
  expect(stderr).toContain("external: ['shardwheel']");
});

test('a worker that was built as an entry of its own needs the two libraries beside it, and no more', () => {
  project.write(
    'build-worker.js',
    `import { build } from 'esbuild';
     const entryPoints = { app: 'app.js', worker: 'shardwheel/worker' };
     const common = { bundle: true, platform: 'node', format: 'esm', outExtension: { '.js': '.mjs' } };
     await build({ ...common, entryPoints, external: ['piscina'], outdir: 'whole' });`,
  );
  project.run('node', ['build-worker.js']);
  const folder = join(elsewhere, 'with-worker');
  cpSync(join(project.folder, 'whole'), folder, { recursive: true });
  writeFileSync(
    join(folder, 'start.mjs'),
    `globalThis.options = { thread: { workerUrl: new URL('./worker.mjs', import.meta.url) } };\nawait import('./app.mjs');\n`,
  );
  const without = project.try('node', ['start.mjs'], folder);
  expect(without.stderr).toMatch(/^The package 'piscina' was not found from .*: .*external: \['piscina'\]/);
  for (const name of ['piscina', 'comlink']) {
    cpSync(join(project.folder, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  }
  expect(JSON.parse(project.run('node', ['start.mjs'], folder))).toEqual(wentWell);
}, 60_000);
