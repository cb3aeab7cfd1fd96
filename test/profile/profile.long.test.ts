import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { folder, profile, programOf, runProgram } from './profile-program.ts';

test('a program alone, by --import, shows a short report at its end', async () => {
  const { code, output } = await runProgram(programOf('kinds.mjs'), ['profile']);
  expect(code).toBe(0);
  expect(output).toContain('31 created, 12 cleared, 3 refreshed, 27 fired');
  expect(output).toMatch(/≈ [56] +set at .*kinds\.mjs:\d+/);
});

describe('a program that ends badly', () => {
  test.each([
    ['throw', 1, 'ended with exit code 1'],
    ['reject', 1, 'ended with exit code 1'],
    ['exit', 3, 'ended with exit code 3'],
  ])('%s: its report comes, and its exit code', async (how, code, end) => {
    const { code: own, report, stderr } = await profile(programOf('ends.mjs'), [how]);
    expect([own, report.end]).toEqual([code, end]);
    expect(report.loops[0].data.totals).toMatchObject({ created: 1, fired: 1 });
    if (how !== 'exit') expect(stderr).toContain('Error: on purpose');
  });

  test('one that is killed before it has reported is said to have reported nothing', async () => {
    const words = [process.execPath, programOf('ends.mjs'), 'abort'];
    const { code, stderr } = await runCommand(['profile', '--no-html', '--', ...words]);
    expect(code).toBe(128 + 9);
    expect(stderr).toContain('no Node process has reported');
  });

  test('one that never ends, when the command is told to end: what it did until a second before', async () => {
    const { code, report, stdout } = await profile(programOf('ends.mjs'), ['hang'], undefined, {
      onStart: (child) => setTimeout(() => child.kill('SIGTERM'), 6300).unref(),
    });
    expect([code, report.end]).toEqual([128 + 15, 'was ended by SIGTERM']);
    const { data } = report.loops[0];
    expect([data.state, data.totals.created]).toEqual(['recording', 2]);
    expect(data.seconds).toBeGreaterThan(1.7);
    expect(data.totals.fired).toBeGreaterThan(1);
    expect(stdout).toContain('what it did in its last second is missing');
    // What was written just after a point has no point of its own: a rate over an instant says nothing.
    const gaps = data.series.slice(1).map(({ at }, before) => at - data.series[before].at);
    expect(Math.min(...gaps)).toBeGreaterThan(0.05);
  });

  test.each([
    ['gracefully', 'SIGINT', 7, 'ended with exit code 7', 'ended', 2],
    ['gracefully', 'SIGTERM', 7, 'ended with exit code 7', 'ended', 2],
    ['gracefully', 'SIGHUP', 7, 'ended with exit code 7', 'ended', 2],
    ['block', 'SIGINT', 128 + 2, 'was ended by SIGINT', 'recording', 1],
  ] as const)('one that goes on %s at %s: to the last timer', async (how, signal, code, end, state, fired) => {
    const { code: own, report } = await profile(programOf('ends.mjs'), [how, signal], undefined, {
      onStart: (child) => child.stdout?.once('data', () => child.kill(signal)),
    });
    expect([own, report.end]).toEqual([code, end]);
    expect(report.loops[0].data).toMatchObject({ state, totals: { created: 3, fired, cleared: 0 } });
    if (how === 'gracefully') expect(report.limits.join()).not.toContain('missing');
  });

  test('one that goes on after the seconds that were asked for', async () => {
    const { code, report, stderr } = await profile(
      programOf('ends.mjs'),
      ['while'],
      ['--no-html', '--no-estimate', '--seconds', '1'],
    );
    expect(code).toBe(0);
    expect(stderr).toContain('recording is over, the program goes on');
    expect([report.end, report.loops[0].data.state]).toEqual(['', 'stopped']);
    expect(report.loops[0].data.totals).toEqual({ created: 2, cleared: 0, refreshed: 0, fired: 1 });
    expect(report.loops[0].data.seconds).toBeLessThan(2.4);
  });
});

describe('the command', () => {
  test.each<[string[], number, string]>([
    [[], 2, 'no command to profile: npx shardwheel profile -- node app.js'],
    [['--seconds', '0', '--', 'node'], 2, 'It must be a number from 0.1'],
    [
      ['--out', '/no/such/folder/report.html', '--', 'node', '-e', '0'],
      2,
      '/no/such/folder/report.html cannot be written',
    ],
    [['--out', '.', '--', 'node', '-e', '0'], 2, '. cannot be written: it is a folder'],
    [['--json', '.', '--', 'node', '-e', '0'], 2, "'.' is invalid. It cannot be written: it is a folder"],
    [['--no-html', '--', '/'], 126, '/ cannot be run'],
    [['--read', '/no/such/folder'], 2, "'/no/such/folder' cannot be read"],
    [['--no-html', '--', 'no-such-command-here'], 127, 'no-such-command-here cannot be run: there is no such command'],
    [['--no-html', '--', 'true'], 1, 'no Node process has reported. Is "true" a Node program?'],
  ])('%j ends with %i: %s', async (argv, code, message) => {
    const ended = await runCommand(['profile', ...argv]);
    expect(ended.stderr).toContain(message);
    expect(ended.code).toBe(code);
  });

  test('writes one page with everything in it, and an estimate from costs measured here', async () => {
    const out = join(folder, 'report.html');
    const { code, report, stdout } = await profile(programOf('ends.mjs'), ['exit'], ['--out', out]);
    expect(code).toBe(3);
    expect(stdout).toContain(`Written: `);
    const html = readFileSync(out, 'utf8');
    expect(html).toContain('<script type="application/json" id="data">');
    expect(html).not.toMatch(/(src|href)="?http|@import|fetch\(/);
    const { calibration } = report;
    for (const kind of ['node', 'shardwheel'] as const) {
      for (const cost of Object.values(calibration?.[kind] ?? {})) expect(cost).toBeGreaterThan(0);
    }
    expect(calibration?.live).toBe(1000);
  });
});
