import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { entry, folder, profile, runProgram, written } from './profile-program.ts';

describe('a profile', () => {
  test('has a part for each Node process and each worker, most timers first, by CommonJS and promisify(setTimeout) too', async () => {
    const child = written('for (let n = 0; n < 5; n++) setTimeout(() => {}, 20);');
    const text = `
      const { setTimeout: after } = require('timers');
      const { Worker, isMainThread } = require('worker_threads');
      if (isMainThread) {
        after(() => {}, 12);
        require('util').promisify(setTimeout)(13);
        require('child_process').execFileSync(process.execPath, [${JSON.stringify(child)}]);
        new Worker(__filename);
      } else {
        for (let n = 0; n < 4; n++) after(() => {}, 14);
      }`;
    const { report } = await profile(written(text, 'parent.cjs'));
    const found = report.loops.map(({ data: { totals, delays, process } }) => {
      return [totals.created, totals.fired, delays.map(({ delay }) => delay), process.thread === 0];
    });
    expect(found).toEqual([
      [5, 5, [20], true],
      [4, 4, [14], false],
      [2, 2, [12, 13], true],
    ]);
    const [, worker, parent] = report.loops.map(({ data }) => data.process.pid);
    expect(worker).toBe(parent);
  });

  test('names the place in a package, and the one that led there', async () => {
    written('{ "name": "waits", "main": "index.js" }', 'node_modules/waits/package.json');
    const waits = `exports.wait = function wait(ms) {
      return new Promise((resolve) => setTimeout(resolve, ms));
    };`;
    written(waits, 'node_modules/waits/index.js');
    const uses = `import { wait } from 'waits';
      async function first() { await wait(31); }
      async function second() {
        await wait(32);
      }
      await Promise.all([first(), first(), second()]);`;
    const { report, stdout } = await profile(written(uses, 'uses.mjs'));
    const sites = report.loops[0].data.sites.map(({ created, delay, from, site }) => ({ created, delay, from, site }));
    const within = (place: string) => expect.stringMatching(new RegExp(`${place.replaceAll('.', '\\.')}$`));
    expect(sites).toEqual([
      { created: 2, delay: 31, site: within('node_modules/waits/index.js:2'), from: within('uses.mjs:2') },
      { created: 1, delay: 32, site: within('node_modules/waits/index.js:2'), from: within('uses.mjs:4') },
    ]);
    expect(stdout).toMatch(/from .*uses\.mjs:4/);
  });

  test('of a program that has taken Error to pieces has call sites all the same', async () => {
    const text = `Error.stackTraceLimit = 0;
      Error.prepareStackTrace = () => { throw new Error('not asked'); };
      Object.freeze(Error);
      setTimeout(() => {}, 33);`;
    const { code, report } = await profile(written(text, 'odd.cjs'));
    expect([code, report.loops[0].data.totals.fired]).toEqual([0, 1]);
  });

  test('says that it records nothing in a registered thread, and who serves', async () => {
    const { code, output } = await runProgram(written('setTimeout(() => {}, 20);'), ['register', 'profile']);
    expect(code).toBe(0);
    expect(output).toMatch(
      /records nothing: this thread is registered: Node's own timers serve since [\d.]+ s \(fewer than 16384 are live\), and about 0 are live/,
    );
  });

  test('refuses a number of seconds that is none', async () => {
    const { code, output } = await runProgram(written(''), ['profile'], { SHARDWHEEL_PROFILE_SECONDS: 'many' });
    expect(code).toBe(1);
    expect(output).toMatch(/SHARDWHEEL_PROFILE_SECONDS.*many/);
  });
});

describe('snapshot() and stop()', () => {
  const load = `const { snapshot, stop } = await import(${JSON.stringify(entry('profile'))});`;

  /** What a program prints first. */
  async function printed(text: string) {
    const { code, output } = await runProgram(written(text), []);
    expect(code).toBe(0);
    return JSON.parse(output.split('\n')[0]);
  }

  test('say what has happened, and give everything back', async () => {
    const found = await printed(`const before = [setTimeout, clearInterval, setTimeout(() => {}, 1).refresh];
      ${load}
      for (let n = 0; n < 4; n++) setTimeout(() => {}, 5);
      const first = snapshot();
      await new Promise((resolve) => setTimeout(resolve, 30));
      const last = stop();
      setTimeout(() => {}, 6);
      const after = [setTimeout, clearInterval, setTimeout(() => {}, 1).refresh];
      const same = before.every((each, at) => each === after[at]);
      console.log(JSON.stringify([first.totals, first.state, last.totals, last.state, stop().totals.created, same]));`);
    const totals = (created: number, fired: number) => ({ created, cleared: 0, refreshed: 0, fired });
    expect(found).toEqual([totals(4, 0), 'recording', totals(5, 5), 'stopped', 5, true]);
  });

  test('count timers from before the profile as they are cleared, and nothing lives below zero', async () => {
    const found = await printed(`const before = Array.from({ length: 3 }, () => setTimeout(() => {}, 5000));
      ${load}
      before.forEach(clearTimeout);
      const { live, series, totals } = snapshot();
      console.log(JSON.stringify([totals.created, totals.cleared, live, series.every((point) => point.live >= 0)]));`);
    expect(found).toEqual([0, 3, 0, true]);
  });

  test('take nothing from the series: the longest pass is there at its next point, and there alone', async () => {
    const [longest, afterwards] = await printed(`${load}
      const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      setTimeout(() => { for (const end = Date.now() + 40; Date.now() < end; ); }, 1);
      await sleep(60);
      snapshot();
      await sleep(600);
      const passes = snapshot().series.map(({ pass }) => pass);
      console.log(JSON.stringify([Math.max(...passes), Math.min(...passes.slice(1))]));`);
    expect(longest).toBeGreaterThan(38);
    expect(afterwards).toBeLessThan(longest);
  });
});

describe('data in a folder', () => {
  test('is read by the command', async () => {
    const kept = join(folder, 'kept');
    const path = written('for (let n = 0; n < 6; n++) setTimeout(() => {}, 41);');
    const ended = await runProgram(path, ['profile'], { SHARDWHEEL_PROFILE_DIR: kept });
    expect(ended).toEqual({ code: 0, output: '' });
    expect(readdirSync(kept)).toHaveLength(1);
    const { code, stdout } = await runCommand(['profile', '--read', kept, '--no-html', '--no-estimate']);
    expect(code).toBe(0);
    expect(stdout).toContain('6 created, 0 cleared, 0 refreshed, 6 fired');
  });

  test('that cannot be written costs the program nothing: its short report comes', async () => {
    const path = written('setTimeout(() => {}, 42);');
    const env = { SHARDWHEEL_PROFILE_DIR: join(path, 'below-a-file') };
    const { code, output } = await runProgram(path, ['profile'], env);
    expect(code).toBe(0);
    expect(output).toContain('1 created, 0 cleared, 0 refreshed, 1 fired');
  });
});
