import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { program, wentWell } from './fired-on-threads.ts';
import { InstalledProject } from './installed-project.ts';

const project = new InstalledProject('pnpm@10', 'yarn@1', '@yarnpkg/cli-dist@4');

/** Not within the project: what a package manager has not installed must not be found there. */
const elsewhere = mkdtempSync(join(tmpdir(), 'shardwheel-managers-'));
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

const YARN_4 = '@yarnpkg/cli-dist/bin/yarn.js';

test.each([
  ['pnpm 10', 'pnpm/bin/pnpm.cjs'],
  ['yarn 1', 'yarn/bin/yarn.js'],
  ["yarn 4 with Plug'n'Play", YARN_4],
])('%s installs the package, and its threads start', (_, file) => {
  const folder = mkdtempSync(join(elsewhere, 'app-'));
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
  const manager = (...argv: string[]) =>
    project.run('node', [join(project.folder, 'node_modules', file), ...argv], folder);
  const [tarball] = readdirSync(project.folder).filter((entry) => entry.endsWith('.tgz'));
  const registry = project.run('npm', ['config', 'get', 'registry']).trim();
  write('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  write('app.mjs', program);
  if (file === YARN_4) {
    write('yarn.lock', '');
    const settings = { enableTelemetry: false, enableGlobalCache: false, npmRegistryServer: registry };
    write('.yarnrc.yml', JSON.stringify({ ...settings, nodeLinker: 'pnp', unsafeHttpWhitelist: ['*'] }));
  }
  const path = join(project.folder, tarball);
  if (file === YARN_4) manager('add', path);
  else manager('add', `--registry=${registry}`, path);
  const said = file === YARN_4 ? manager('node', 'app.mjs') : project.run('node', ['app.mjs'], folder);
  expect(JSON.parse(said)).toEqual(wentWell);
});
