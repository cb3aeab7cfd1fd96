import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { registryBinary } from '../../bench/replay/registry-binary.ts';
import { deviations } from './deviations.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const runtimes = [
  {
    runtime: 'bun',
    found: { package: 'bun@1.4.5', where: ['bun', '-e', 'console.log(process.execPath)'] },
    flags: ['--bun'],
    least: 230,
  },
  {
    runtime: 'deno',
    found: { package: 'deno@2.9.6', where: ['deno', 'eval', 'console.log(Deno.execPath())'] },
    flags: ['run', '--allow-all'],
    least: 180,
  },
] as const;

/** vitest's, as far as it is read here. */
interface Report {
  numPassedTests: number;
  testResults: {
    name: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

describe.each(runtimes)('$runtime', ({ runtime, found, flags, least }) => {
  test('keeps the guarantees, but for what deviates', async () => {
    const binary = await registryBinary(found);
    const left = deviations.filter(({ runtimes }) => runtimes.includes(runtime)).map(({ title }) => title);
    const folder = mkdtempSync(join(tmpdir(), `shardwheel-${runtime}-`));
    try {
      const file = join(folder, 'report.json');
      const argv = ['test/guarantees', 'test/package/which-runtime', '--reporter=json', `--outputFile=${file}`];
      const pattern = `^((?!${left.map(literally).join('|')}).)*$`;
      const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...argv, '--testNamePattern', pattern];
      const env = { ...process.env, NODE_OPTIONS: '', SHARDWHEEL_RUNTIME: runtime };
      const options = { cwd: root, encoding: 'utf8', env, timeout: 300_000, killSignal: 'SIGKILL' } as const;
      const { stderr, stdout } = spawnSync(binary, [...flags, ...vitest], options);
      const report: Report = JSON.parse(readFileSync(file, 'utf8'));
      const all = report.testResults.flatMap(({ assertionResults }) => assertionResults);
      const failed = all.filter(({ status }) => status === 'failed');
      const broken = report.testResults.filter(({ assertionResults }) => assertionResults.length === 0);
      const why = failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.slice(0, 500)}`);
      expect(why, `${why.join('\n')}\n${`${stdout}${stderr}`.slice(-1000)}`).toEqual([]);
      expect(broken.map(({ name }) => name)).toEqual([]);
      expect(report.numPassedTests).toBeGreaterThan(least);
      const isThere = (title: string) => all.some(({ fullName }) => fullName.includes(title));
      expect(left.filter((title) => !isThere(title))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 400_000);

  test.each([
    ['timers', 'shardwheel/timers'],
    ['timers/promises', 'shardwheel/timers'],
    ['register', 'shardwheel/register'],
    ['profile', 'shardwheel/profile'],
  ])('refuses shardwheel/%s with a sentence', async (entry, what) => {
    const argv = runtime === 'bun' ? ['-e'] : ['eval', '--quiet'];
    const text = `import('shardwheel/${entry}').catch(({ code, message }) => console.log(code + ' ' + message))`;
    const { stdout } = spawnSync(await registryBinary(found), [...argv, text], { cwd: root, encoding: 'utf8' });
    expect(stdout).toMatch(
      new RegExp(`^ERR_UNSUPPORTED_RUNTIME ${what} needs Node.js, and does not work on (Bun|Deno): `),
    );
  });
});
