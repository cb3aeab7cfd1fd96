import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { ReportData } from '../../tools/cli/profile/report-data.ts';
import { runCommand } from '../cli/run-command.ts';
import type { Ended, RunOptions } from '../fixtures/child-process.ts';

export const programOf = (name: string): string => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

/** Of the suite that imports this; removed at its end. */
export const folder = mkdtempSync(join(tmpdir(), 'shardwheel-profiled-'));
afterAll(() => rmSync(folder, { recursive: true }));

let runs = 0;

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
