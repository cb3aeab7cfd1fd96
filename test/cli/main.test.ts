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

  test.each(['replay', 'profile', 'plan'])('%s takes the defaults that it shows', async (command) => {
    const { stdout } = await shardwheel(command, '--help');
    const shown = stdout.replace(/\s+/g, ' ').matchAll(/(--[a-z-]+) <[^>]+> (?:(?! --[a-z]).)*?\(default: ([^)]+)\)/g);
    const flags = Array.from(shown, ([, flag, value]) => [flag, value.replace(/"/g, '')]).filter(
      ([, value]) => value !== 'the four of a proxy',
    );
    expect(flags.length).toBeGreaterThan(1);
    // all flags are read before an unknown one is refused
    const { code, stderr } = await shardwheel(command, ...flags.flat(), '--no-such-flag');
    expect([code, stderr]).toEqual([2, "error: unknown option '--no-such-flag'\n"]);
  });

  test('replay refuses bad flags', async () => {
    const { code, stderr } = await shardwheel('replay', '--cps', 'many');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*--cps.* 'many' .*must be a whole number from 1 to 10000000/);
  });
});
