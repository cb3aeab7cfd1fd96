import { expect, test } from 'vitest';
import { InstalledProject } from './installed-project.ts';

const project = new InstalledProject();

/** Schedules, ends, and is delivered by the next program that runs. */
const program = `
  const durable = await openDurableTimers({ store: lmdbStore({ path: './timers' }) });
  const got = [];
  if (process.argv[2] === 'schedule') {
    await durable.schedule('a', 'k', Date.now() + 50, { since: new Date(0) });
  } else {
    await new Promise((resolve) => durable.handle('a', (payload, { key }) => resolve(got.push(key, payload))));
  }
  await durable.close();
  console.log(JSON.stringify(got));
`;
const delivered = ['k', { since: '1970-01-01T00:00:00.000Z' }];
const esm = `import { lmdbStore, openDurableTimers } from 'shardwheel/durable';${program}`;
const commonjs = `const { lmdbStore, openDurableTimers } = require('shardwheel/durable');(async () => {${program}})();`;

test('without the package of its store, one error says what to install', () => {
  project.write('app.js', esm);
  const { status, stderr } = project.try('node', ['app.js', 'schedule']);
  expect(status).toBe(1);
  expect(stderr).toContain("code: 'ERR_STORE_PACKAGE_MISSING'");
  expect(stderr).toMatch(/lmdbStore needs the package 'lmdb', which was not found from .*: npm install lmdb/);
});

test('memory needs nothing', () => {
  project.write('memory.js', esm.replaceAll('lmdbStore', 'memoryStore').replace("{ path: './timers' }", ''));
  expect(JSON.parse(project.run('node', ['memory.js', 'schedule']))).toEqual([]);
});

test('a program schedules and ends, and the next one delivers: as it is, by require, bundled', () => {
  project.run('npm', ['install', '--no-audit', '--no-fund', 'lmdb@3.5.6', 'esbuild@0.28.2']);
  project.write('app.cjs', commonjs);
  const bundle = (format: string, file: string) =>
    project.run('npx', ['esbuild', 'app.js', '--bundle', '--platform=node', `--format=${format}`, `--outfile=${file}`]);
  bundle('esm', 'bundled.mjs');
  for (const file of ['app.js', 'app.cjs', 'bundled.mjs']) {
    expect(JSON.parse(project.run('node', [file, 'schedule']))).toEqual([]);
    expect(JSON.parse(project.run('node', [file, 'deliver']))).toEqual(delivered);
  }
});
