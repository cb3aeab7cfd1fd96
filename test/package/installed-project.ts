import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** ms that a command may take; npm fetches packages. */
const LIMIT = 180_000;

/**
 * An empty project into which the packed package is installed, and what else is named, from the registry: before the
 * tests of the file that makes it. It is removed after them.
 */
export class InstalledProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'shardwheel-installed-'));

  /** `packages`: as `npm install` takes them. */
  constructor(...packages: string[]) {
    this.write('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
    beforeAll(() => {
      this.run('npm', ['pack', '--ignore-scripts', '--pack-destination', this.folder], root);
      const [tarball] = readdirSync(this.folder).filter((name) => name.endsWith('.tgz'));
      this.run('npm', ['install', '--no-audit', '--no-fund', `./${tarball}`, ...packages]);
    }, 2 * LIMIT);
    afterAll(() => rmSync(this.folder, { recursive: true, force: true }), LIMIT);
  }

  /** A file of the project, with its folders. */
  write(name: string, text: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** What the command says. Throws where it fails. */
  run(command: string, argv: readonly string[], cwd = this.folder): string {
    const { status, stdout, stderr } = this.try(command, argv, cwd);
    if (status !== 0) throw new Error(`${command} ${argv.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`);
    return stdout;
  }

  try(command: string, argv: readonly string[], cwd = this.folder): Ended {
    const env = { ...process.env, NODE_OPTIONS: '' };
    return spawnSync(command, argv, { cwd, env, encoding: 'utf8', timeout: LIMIT, killSignal: 'SIGKILL' });
  }
}
