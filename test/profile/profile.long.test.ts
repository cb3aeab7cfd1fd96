import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ProfileData } from '../../src/profile/profile-data.ts';
import { runCommand } from '../cli/run-command.ts';
import { runProgram } from '../timers/node/run-program.ts';
import { folder, profile, programOf } from './profile-program.ts';

describe('the profile of a program whose timers are known', () => {
  let data: ProfileData;
  let stdout: string;

  beforeAll(async () => {
    const ended = await profile(programOf('known.mjs'));
    expect(ended).toMatchObject({ code: 0 });
    stdout = ended.stdout;
    ({ data } = ended.report.loops[0]);
  }, 60_000);

  test('counts what it creates, clears, refreshes, and what fires', () => {
    expect(data.totals).toEqual({
      created: 100 + 50 + 1 + 1 + 10 + 1 + 1,
      cleared: 51,
      refreshed: 60,
      fired: 100 + 1 + 3 + 11,
    });
    expect(data.kinds).toEqual({ timeouts: 152, intervals: 1, promises: 11 });
    expect([data.needlessClears, data.live]).toEqual([2, 1]);
    expect(data.peak.live).toBeGreaterThanOrEqual(150);
  });

  test('tells delays apart', () => {
    const rows = data.delays.map(({ delay, ...counts }): [number, number[]] => [
      delay,
      [counts.created, counts.cleared, counts.refreshed, counts.fired],
    ]);
    expect(new Map(rows)).toEqual(
      new Map([
        [30, [100, 0, 0, 100]],
        [5000, [50, 50, 60, 0]],
        [5, [1, 1, 0, 3]],
        [9, [1, 0, 0, 1]],
        [7, [5, 0, 0, 5]],
        [8, [5, 0, 0, 5]],
        [60, [1, 0, 0, 1]],
        [60_000, [1, 0, 0, 0]],
      ]),
    );
    const inBuckets = data.buckets.reduce((sum, { created }) => sum + created, 0);
    expect([inBuckets, data.differentDelays]).toEqual([164, 8]);
  });

  test('names the places that set them', () => {
    const lines = readFileSync(programOf('known.mjs'), 'utf8').split('\n');
    const lineOf = (comment: string): number => lines.findIndex((line) => line.includes(comment)) + 1;
    const siteAt = (line: number) => data.sites.find(({ site }) => site.endsWith(`known.mjs:${line}`));
    expect(siteAt(lineOf('// site: fires'))).toMatchObject({ delay: 30, created: 100, fired: 100, cleared: 0 });
    expect(siteAt(lineOf('// site: idle'))).toMatchObject({ delay: 5000, created: 50, cleared: 50, refreshed: 60 });
    expect(siteAt(lineOf('// live at the end'))).toMatchObject({ delay: 60_000, created: 1 });
  });

  test('knows how late they came, by the histogram and by its percentiles', () => {
    expect(data.latenessBuckets.reduce((sum, each) => sum + each, 0)).toBe(data.totals.fired);
    expect(data.lateness.count).toBe(data.totals.fired);
    expect(data.lateness.max).toBeGreaterThanOrEqual(data.lateness.p99);
    expect(data.passes.count).toBeGreaterThan(1);
    expect(data.passes.longest.fired).toBeGreaterThan(0);
  });

  test('shows them in the terminal', () => {
    expect(stdout).toMatch(/164 created, 51 cleared, 60 refreshed, 115 fired/);
    expect(stdout).toMatch(/│ +30 ms │ +100 │ +0 │ +0 │ +100 │/);
    expect(stdout).toMatch(/known\.mjs:\d+/);
  });
});

describe('what else is recorded', () => {
  test("CommonJS, promisify(setTimeout), and a worker's timers apart", async () => {
    const { report } = await profile(programOf('required.cjs'));
    const created = report.loops.map(({ data }) => [data.process.thread === 0, data.delays.map(({ delay }) => delay)]);
    expect(created).toEqual([
      [false, [14]],
      [true, [12, 13]],
    ]);
    expect(report.loops[0].data.totals).toMatchObject({ created: 4, fired: 4 });
  });

  test('a program alone, by --import, which shows a short report at its end', async () => {
    const preload = new URL('../../lib/profile.js', import.meta.url).href;
    const { code, output } = await runProgram(programOf('known.mjs'), ['--import', preload]);
    expect(code).toBe(0);
    expect(output).toContain('164 created, 51 cleared, 60 refreshed, 115 fired');
  });
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
    const { code, stderr } = await runCommand([
      'profile',
      '--no-html',
      '--',
      process.execPath,
      programOf('ends.mjs'),
      'abort',
    ]);
    expect(code).toBe(128 + 9);
    expect(stderr).toContain('no Node process has reported');
  });

  test('one that never ends, when the command is told to end: what it did until a second before', async () => {
    const { code, report, stdout } = await profile(programOf('ends.mjs'), ['hang'], undefined, {
      onStart: (child) => setTimeout(() => child.kill('SIGTERM'), 3300).unref(),
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

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'one that ends itself at %s: to the last timer',
    async (signal) => {
      const { code, report } = await profile(programOf('ends.mjs'), ['gracefully', signal], undefined, {
        onStart: (child) => child.stdout?.once('data', () => child.kill(signal)),
      });
      expect([code, report.end]).toEqual([7, 'ended with exit code 7']);
      expect(report.loops[0].data).toMatchObject({ state: 'ended', totals: { created: 3, fired: 2, cleared: 0 } });
      expect(report.limits.join()).not.toContain('missing');
    },
  );

  test('one that blocks its event loop, when it is told to end', async () => {
    const { code, report } = await profile(programOf('ends.mjs'), ['block'], undefined, {
      onStart: (child) => child.stdout?.once('data', () => child.kill('SIGINT')),
    });
    expect([code, report.end]).toEqual([128 + 2, 'was ended by SIGINT']);
    expect(report.loops[0].data.totals).toMatchObject({ created: 3, fired: 1 });
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
    [['--json', '.', '--', 'node', '-e', '0'], 2, '. cannot be written: it is a folder'],
    [['--no-html', '--', '/'], 126, '/ cannot be run'],
    [['--read', '/no/such/folder'], 2, '/no/such/folder cannot be read'],
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
