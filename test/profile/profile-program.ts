import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReportData } from '../../src/extras/profile/report-data.ts';
import { runCommand } from '../cli/run-command.ts';
import { type Ended, type RunOptions, runNode } from '../fixtures/child-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

export const programOf = (name: string): string => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

/** Of the suite that imports this. */
export const folder = temporaryFolder();

let runs = 0;

/** A program of this text. */
export function written(text: string, name = `${++runs}.mjs`): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

export const entry = (name: string): string => new URL(`../../lib/${name}.js`, import.meta.url).href;

/** Runs a program, by its path, preloaded with entries of the package; its exit code, and what it has written. */
export async function runProgram(path: string, entries: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const flags = entries.flatMap((name) => ['--import', entry(name)]);
  const ended = await runNode(['--no-warnings', ...flags, path], { env: { NODE_OPTIONS: '', ...env }, limit: 20_000 });
  return { code: ended.code, output: ended.stdout + ended.stderr };
}

/** Profiles a program, by its path, without the page and the estimate unless they are asked for. */
export async function profile(
  path: string,
  given: readonly string[] = [],
  flags: readonly string[] = ['--no-html', '--no-estimate'],
  options: RunOptions = {},
): Promise<Ended & { report: ReportData }> {
  const json = join(folder, `${++runs}.json`);
  const argv = ['profile', '--json', json, ...flags, '--', process.execPath, path, ...given];
  const ended = await runCommand(argv, options);
  return { ...ended, report: JSON.parse(readFileSync(json, 'utf8')) };
}
