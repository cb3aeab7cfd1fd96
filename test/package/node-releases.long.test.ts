import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { registryBinary } from '../../bench/replay/registry-binary.ts';
import { read } from '../docs/documents.ts';
import { program, wentWell } from './fired-on-threads.ts';
import { InstalledProject } from './installed-project.ts';

/** What `engines` asks for. Whoever changes it finds here what to try. */
const supported = '^20.19.0 || >=22.12.0';

/** The lowest and the newest of each line. */
const releases = ['20.19.0', '20', '22.12.0', '22', '24.0.0', '24', '26.0.0', '26'];

/** The last before each of the two bounds. */
const refused = ['20.18.3', '22.11.0'];

const project = new InstalledProject();

const both = `
import * as imported from 'shardwheel';
import { createRequire } from 'node:module';
console.log(imported.createScheduler === createRequire(import.meta.url)('shardwheel').createScheduler);
`;

/** Runs commands on a release, in an empty project of its own; npm itself as well. */
async function on(release: string) {
  const node = await registryBinary({ package: `node@${release}`, where: ['node', '-p', 'process.execPath'] });
  const folder = join(project.folder, `on-${release}`);
  mkdirSync(folder);
  project.write(`on-${release}/package.json`, JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  project.write(`on-${release}/program.mjs`, program);
  project.write(`on-${release}/both.mjs`, both);
  const [tarball] = readdirSync(project.folder).filter((name) => name.endsWith('.tgz'));
  const path = `PATH=${dirname(node)}:${process.env.PATH}`;
  const run = (...argv: string[]) => project.try('env', [path, ...argv], folder);
  const install = () => run('npm', 'install', '--no-audit', '--no-fund', '--engine-strict', `../${tarball}`);
  return { run, install };
}

test('engines asks for what is tried here', () => {
  expect(JSON.parse(read('package.json')).engines.node).toBe(supported);
});

test.each(releases)(
  'Node %s installs it, fires timers on threads, and has one library for import and require',
  async (release) => {
    const { run, install } = await on(release);
    expect(run('node', '-v').stdout).toMatch(new RegExp(`^v${release.replaceAll('.', '\\.')}[.\n]`));
    const installed = install();
    expect(installed.status, installed.stderr).toBe(0);
    const { status, stdout, stderr } = run('node', 'program.mjs');
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: `${JSON.stringify(wentWell)}\n` });
    expect(run('node', 'both.mjs').stdout).toBe('true\n');
  },
);

test.each(refused)(
  'Node %s is refused by npm where engines are strict, with the releases that it asks for',
  async (release) => {
    const { install } = await on(release);
    const { status, stderr } = install();
    expect(status).not.toBe(0);
    expect(stderr).toContain('EBADENGINE');
    expect(stderr).toContain(`Required: {"node":"${supported}"}`);
  },
);
