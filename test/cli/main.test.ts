import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runCommand } from './run-command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const shardwheel = (...argv: string[]) => runCommand(argv);

describe('shardwheel', () => {
  test.each([[[]], [['--help']], [['-h']]])('%j lists the commands', async (argv) => {
    const { code, stdout, stderr } = await shardwheel(...argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage: shardwheel');
    for (const command of ['replay', 'profile', 'plan', 'watch']) {
      expect(stdout).toMatch(new RegExp(`^ +${command} `, 'm'));
    }
  });

  test('--version is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    expect(await shardwheel('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test.each([
    ['rplay', "error: unknown command 'rplay' (Did you mean replay?)\n"],
    ['constructor', "error: unknown command 'constructor'\n"],
    ['--bogus', "error: unknown option '--bogus'\n"],
  ])('%s is refused in one line', async (argument, stderr) => {
    expect(await shardwheel(argument)).toEqual({ code: 2, stdout: '', stderr });
  });

  test('replay --help names itself as it was called', async () => {
    const { code, stdout } = await shardwheel('replay', '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: npx shardwheel replay [options]');
    expect(stdout).not.toContain('npm start');
  });

  test('replay refuses bad flags', async () => {
    const { code, stderr } = await shardwheel('replay', '--cps', 'many');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*--cps.* 'many' .*must be a whole number from 1 to 10000000/);
  });
});
