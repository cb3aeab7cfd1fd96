import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { InstalledProject } from './installed-project.ts';

const project = new InstalledProject();
const run = (command: string, ...argv: string[]): string => project.run(command, argv);

test('brings the two libraries that the scheduler needs, and none of the command line', () => {
  const names = readdirSync(join(project.folder, 'node_modules')).filter((name) => !/^[.@]/.test(name));
  expect(names).toEqual(['comlink', 'piscina', 'shardwheel']);
});

test('npx shardwheel replay runs, and finds nothing early, lost or doubled', () => {
  const output = run('npx', 'shardwheel', 'replay', '--cps', '2000', '--seconds', '1', '--drain', '1', '--no-native');
  const judged = output.split('\n').filter((line) => /^(ok|FAILED): /.test(line));
  expect(judged).toHaveLength(2);
  for (const [at, name] of ['inline', '1 shard'].entries()) {
    expect(judged[at]).toContain(`ok: shardwheel, ${name}`);
    expect(judged[at]).toMatch(
      /: 0 early, 0 lost, 0 doubled, 0 refused of [\d,]+ timers at [\d,]+ connections per second\.$/,
    );
  }
});

test('npx shardwheel profile records a program, and writes its page', () => {
  project.write('app.js', 'for (let n = 0; n < 40; n++) setTimeout(() => {}, 20);\n');
  const output = run('npx', 'shardwheel', 'profile', '--quiet', '--no-estimate', '--', 'node', 'app.js');
  expect(output).toContain('40 created, 0 cleared, 0 refreshed, 40 fired');
  expect(output).toContain('app.js:1');
  expect(readFileSync(join(project.folder, 'shardwheel-profile.html'), 'utf8')).toContain('app.js');
});

test('npx shardwheel plan measures, and says what to take', () => {
  const output = run('npx', 'shardwheel', 'plan', '--cps', '2000', '--rounds', '1', '--json', 'plan.json');
  expect(output).toContain('2,000 connections per second on 1 event loop: 18,291 timers live');
  expect(output).toMatch(/a connection takes \d+\.\d µs of its event loop beside its timers \(measured/);
  const { advice, candidates, costs } = JSON.parse(readFileSync(join(project.folder, 'plan.json'), 'utf8'));
  expect(['native', 'inline', 'shard']).toContain(advice.choice.arrangement.service);
  expect(candidates.length).toBeGreaterThanOrEqual(3);
  for (const service of ['native', 'inline', 'shard']) {
    expect(costs.services[service].loop.perConnection + costs.services[service].loop.perTurn).toBeGreaterThan(0);
    expect(costs.services[service].lateness.length).toBeGreaterThan(50);
    expect(costs.services[service].bytesPerTimer).toBeGreaterThan(0);
  }
});

test('serves its dashboard, and watches it', () => {
  const script = `import { createScheduler } from 'shardwheel';
    import { serveDashboard } from 'shardwheel/dashboard';
    import { promisify } from 'node:util';
    import { execFile } from 'node:child_process';
    const scheduler = createScheduler({ shards: 1 });
    for (let i = 0; i < 42; i++) scheduler.scheduleAfter(i, 3_600_000);
    const { url } = await serveDashboard(scheduler, { port: 0 });
    console.log((await fetch(url)).status);
    const { stdout } = await promisify(execFile)('npx', ['shardwheel', 'watch', '--once', '--json', url]);
    console.log(JSON.parse(stdout).size);
    await scheduler.close();`;
  expect(run('node', '--input-type=module', '--eval', script)).toBe('200\n42\n');
});

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
