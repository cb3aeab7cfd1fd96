import { execFileSync, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { burdenIndex, SMALL_WHEEL } from '../fixtures/burden-index.ts';

const program = fileURLToPath(new URL('./loaded-files.mjs', import.meta.url));
const built = (entry: string) => new URL(`../../lib/${entry}.js`, import.meta.url).href;

/** The files that are loaded by an entry point, and by what is done with it then. */
const filesOf = (entry: string, code = ''): string[] =>
  JSON.parse(execFileSync(process.execPath, [program, built(entry), code], { encoding: 'utf8' }));

/** Node's own modules that an entry point loads, and an empty program does not. */
function builtinsOf(entry: string): string[] {
  const empty = new URL('./empty.mjs', import.meta.url).href;
  const code = `await import(${JSON.stringify(empty)});
    const before = new Set(process.moduleLoadList);
    await import(${JSON.stringify(built(entry))});
    process._rawDebug(JSON.stringify(process.moduleLoadList.filter((name) => !before.has(name))));`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' });
  return JSON.parse(stderr);
}

const librariesOf = (files: readonly string[]): string[] =>
  [...new Set(files.flatMap((url) => /node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(url)?.[1] ?? []))].sort();

// A budget that is exceeded is to be raised with a reason, or the new module to be loaded where it is first needed.
describe.each([
  ['index', 5, 350],
  ['timers', 5, 350],
  ['timers-promises', 5, 350],
  ['register', 6, 350],
  ['wheel', 4, 95],
  ['prometheus', 7, 375],
  ['opentelemetry', 7, 375],
  ['dashboard', 6, 380],
  ['profile', 5, 380],
  ['durable', 6, 435],
])('%s', (entry, files, kilobytes) => {
  test(`loads at most ${files} files of ${kilobytes} kB together, and no library`, () => {
    const loaded = filesOf(entry);
    const bytes = loaded.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
    expect(loaded.length).toBeGreaterThan(1);
    expect(loaded.length).toBeLessThanOrEqual(files);
    expect(bytes / 1000).toBeLessThanOrEqual(kilobytes);
    expect(librariesOf(loaded)).toEqual([]);
  });

  test("loads at most 18 modules of Node's own that an empty program does not, and none that sets something up", () => {
    const modules = builtinsOf(entry);
    expect(modules.length).toBeLessThanOrEqual(18);
    expect(modules.filter((name) => /crypto|worker|stream|http|net$|tty|readline|repl/.test(name))).toEqual([]);
  });
});

test('piscina and comlink are loaded where a thread is wanted, and only there', () => {
  const use = (options: string, then = '') =>
    librariesOf(
      filesOf(
        'index',
        `const scheduler = loaded.createScheduler(${options}); scheduler.cancel(scheduler.scheduleAfter(1, 5));
         ${then} await scheduler.close()`,
      ),
    );
  const until = (isSo: string) => `while (!(${isSo})) await new Promise((go) => setTimeout(go, 10));`;
  expect(use('{ shards: 0 }')).toEqual([]);
  expect(use("{ shards: 'auto' }")).toEqual([]);
  expect(use('{ shards: 1 }', 'await scheduler.ready;')).toEqual(['comlink', 'piscina']);
  const served = `while ((await scheduler.stats()).serving.by !== 'threads') await (${burdenIndex})(scheduler);`;
  const up = until('!(await scheduler.stats()).shards[0].inline');
  expect(use(`{ shards: 'auto', wheel: ${JSON.stringify(SMALL_WHEEL)} }`, `${served} ${up}`)).toEqual([
    'comlink',
    'piscina',
  ]);
  expect(librariesOf(filesOf('wheel', 'loaded.createWheel().schedule(5, 1)'))).toEqual([]);
  expect(librariesOf(filesOf('timers', 'loaded.clearTimeout(loaded.setTimeout(() => {}, 5))'))).toEqual([]);
});
