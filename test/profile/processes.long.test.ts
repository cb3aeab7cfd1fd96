import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { folder, profile } from './profile-program.ts';
import { runProgram } from './run-program.ts';

const entry = (name: string): string => new URL(`../../lib/${name}.js`, import.meta.url).href;

/** A program of these lines. */
function written(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

describe('a profile', () => {
  test('has a part for each Node process and each worker, most timers first', async () => {
    const child = written('child.mjs', 'for (let n = 0; n < 5; n++) setTimeout(() => {}, 20);');
    const path = written(
      'parent.mjs',
      "import { execFileSync } from 'node:child_process';",
      "import { Worker } from 'node:worker_threads';",
      'setTimeout(() => {}, 21);',
      `execFileSync(process.execPath, [${JSON.stringify(child)}]);`,
      "new Worker(new URL('data:text/javascript,for (let n = 0; n < 3; n++) setTimeout(() => {}, 22)'));",
    );
    const { report } = await profile(path);
    const found = report.loops.map(({ data }) => [
      data.totals.created,
      data.delays.map(({ delay }) => delay),
      data.process.thread === 0,
    ]);
    expect(found).toEqual([
      [5, [20], true],
      [3, [22], false],
      [1, [21], true],
    ]);
    const [, worker, parent] = report.loops.map(({ data }) => data.process.pid);
    expect(worker).toBe(parent);
  });

  test('names the place in a package, and the one that led there', async () => {
    written('node_modules/waits/package.json', '{ "name": "waits", "main": "index.js" }');
    written(
      'node_modules/waits/index.js',
      'exports.wait = function wait(ms) {',
      '  return new Promise((resolve) => setTimeout(resolve, ms));',
      '};',
    );
    const path = written(
      'uses.mjs',
      "import { wait } from 'waits';",
      'async function first() { await wait(31); }',
      'async function second() {',
      '  await wait(32);',
      '}',
      'await Promise.all([first(), first(), second()]);',
    );
    const { report, stdout } = await profile(path);
    const sites = report.loops[0].data.sites.map(({ created, delay, from, site }) => ({ created, delay, from, site }));
    const within = (place: string) => expect.stringMatching(new RegExp(`${place.replaceAll('.', '\\.')}$`));
    expect(sites).toEqual([
      { created: 2, delay: 31, site: within('node_modules/waits/index.js:2'), from: within('uses.mjs:2') },
      { created: 1, delay: 32, site: within('node_modules/waits/index.js:2'), from: within('uses.mjs:4') },
    ]);
    expect(stdout).toMatch(/from .*uses\.mjs:4/);
  });

  test('of a program that has taken Error to pieces has call sites all the same', async () => {
    const path = written(
      'odd.cjs',
      'Error.stackTraceLimit = 0;',
      "Error.prepareStackTrace = () => { throw new Error('not asked'); };",
      'Object.freeze(Error);',
      'setTimeout(() => {}, 33);',
    );
    const { code, report } = await profile(path);
    expect([code, report.loops[0].data.totals.fired]).toEqual([0, 1]);
  });

  test('says that it records nothing in a registered thread, and who serves', async () => {
    const path = written('served.mjs', 'setTimeout(() => {}, 20);');
    const { code, output } = await runProgram(path, ['--import', entry('register'), '--import', entry('profile')]);
    expect(code).toBe(0);
    expect(output).toMatch(
      /records nothing: this thread is registered: Node's own timers serve since [\d.]+ s \(fewer than 16384 are live\), and about 0 are live/,
    );
  });

  test('refuses a number of seconds that is none', async () => {
    const path = written('idle.mjs', '');
    const { code, output } = await runProgram(path, ['--import', entry('profile')], {
      SHARDWHEEL_PROFILE_SECONDS: 'many',
    });
    expect(code).toBe(1);
    expect(output).toContain('SHARDWHEEL_PROFILE_SECONDS');
    expect(output).toContain('many');
  });
});

describe('snapshot() and stop()', () => {
  test('say what has happened, and give everything back', async () => {
    const path = written(
      'asks.mjs',
      'const before = [setTimeout, clearInterval, setTimeout(() => {}, 1).refresh];',
      `const { snapshot, stop } = await import(${JSON.stringify(entry('profile'))});`,
      'for (let n = 0; n < 4; n++) setTimeout(() => {}, 5);',
      'const first = snapshot();',
      'await new Promise((resolve) => setTimeout(resolve, 30));',
      'const last = stop();',
      'setTimeout(() => {}, 6);',
      'const after = [setTimeout, clearInterval, setTimeout(() => {}, 1).refresh];',
      'const same = before.every((each, at) => each === after[at]);',
      'console.log(JSON.stringify([first.totals, first.state, last.totals, last.state, stop().totals.created, same]));',
    );
    const { code, output } = await runProgram(path, []);
    expect(code).toBe(0);
    expect(JSON.parse(output.split('\n')[0])).toEqual([
      { created: 4, cleared: 0, refreshed: 0, fired: 0 },
      'recording',
      { created: 5, cleared: 0, refreshed: 0, fired: 5 },
      'stopped',
      5,
      true,
    ]);
  });
});

test('timers from before the profile are counted as they are cleared, and nothing lives below zero', async () => {
  const path = written(
    'before.mjs',
    'const before = Array.from({ length: 3 }, () => setTimeout(() => {}, 5000));',
    `const { snapshot } = await import(${JSON.stringify(entry('profile'))});`,
    'before.forEach(clearTimeout);',
    'const { live, series, totals } = snapshot();',
    'console.log(JSON.stringify([totals.created, totals.cleared, live, series.every((point) => point.live >= 0)]));',
  );
  const { output } = await runProgram(path, []);
  expect(JSON.parse(output.split('\n')[0])).toEqual([0, 3, 0, true]);
});

test('a snapshot takes nothing from the series: the longest pass is there at its next point, and there alone', async () => {
  const path = written(
    'long-pass.mjs',
    `const { snapshot } = await import(${JSON.stringify(entry('profile'))});`,
    'const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));',
    'setTimeout(() => { for (const end = Date.now() + 40; Date.now() < end; ); }, 1);',
    'await sleep(60);',
    'snapshot();',
    'await sleep(600);',
    'const passes = snapshot().series.map(({ pass }) => pass);',
    'console.log(JSON.stringify([Math.max(...passes), Math.min(...passes.slice(1))]));',
  );
  const { output } = await runProgram(path, []);
  const [longest, afterwards] = JSON.parse(output.split('\n')[0]);
  expect(longest).toBeGreaterThan(38);
  expect(afterwards).toBeLessThan(longest);
});

describe('data in a folder', () => {
  test('is read by the command, whatever else lies there', async () => {
    const path = written('kept.mjs', 'for (let n = 0; n < 6; n++) setTimeout(() => {}, 41);');
    const kept = join(folder, 'kept');
    const ended = await runProgram(path, ['--import', entry('profile')], { SHARDWHEEL_PROFILE_DIR: kept });
    expect(ended).toEqual({ code: 0, output: '' });
    expect(readdirSync(kept)).toHaveLength(1);
    for (const [name, text] of [
      ['broken.json', '{'],
      ['null.json', 'null'],
      ['other.json', '{"format":2}'],
      ['notes.txt', 'x'],
    ]) {
      writeFileSync(join(kept, name), text);
    }
    const { code, stdout } = await runCommand(['profile', '--read', kept, '--no-html', '--no-estimate']);
    expect(code).toBe(0);
    expect(stdout).toContain('6 created, 0 cleared, 0 refreshed, 6 fired');
  });

  test('that cannot be written costs the program nothing: its short report comes', async () => {
    const path = written('unkept.mjs', 'setTimeout(() => {}, 42);');
    const { code, output } = await runProgram(path, ['--import', entry('profile')], {
      SHARDWHEEL_PROFILE_DIR: join(path, 'below-a-file'),
    });
    expect(code).toBe(0);
    expect(output).toContain('1 created, 0 cleared, 0 refreshed, 1 fired');
  });
});
