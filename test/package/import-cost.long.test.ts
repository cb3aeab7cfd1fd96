import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const program = fileURLToPath(new URL('./loaded-files.mjs', import.meta.url));
const built = (entry: string) => new URL(`../../dist/src/${entry}.js`, import.meta.url).href;

/** The files that are loaded by an entry point, and by what is done with it then. */
const filesOf = (entry: string, code = ''): string[] =>
  JSON.parse(execFileSync(process.execPath, [program, built(entry), code], { encoding: 'utf8' }));

const librariesOf = (files: readonly string[]): string[] =>
  [...new Set(files.flatMap((url) => /node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(url)?.[1] ?? []))].sort();

// A budget that is exceeded is to be raised with a reason, or the new module to be loaded where it is first needed.
describe.each([
  ['index', 165, 580, ['comlink']],
  ['timers', 165, 580, ['comlink']],
  ['timers-promises', 165, 580, ['comlink']],
  ['register', 168, 590, ['comlink']],
  ['wheel', 36, 145, []],
  ['prometheus', 48, 115, []],
  ['opentelemetry', 48, 115, []],
  ['dashboard', 48, 125, []],
  ['profile', 26, 80, []],
  ['durable', 190, 680, ['comlink']],
])('%s', (entry, files, kilobytes, libraries) => {
  test(`loads at most ${files} files of ${kilobytes} kB together`, () => {
    const loaded = filesOf(entry);
    const bytes = loaded.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
    expect(loaded.length).toBeGreaterThan(5);
    expect(loaded.length).toBeLessThanOrEqual(files);
    expect(bytes / 1000).toBeLessThanOrEqual(kilobytes);
    expect(librariesOf(loaded)).toEqual(libraries);
  });
});

test('piscina is loaded where a scheduler has threads, and only there', () => {
  const use = (options: string) => librariesOf(filesOf('index', `await loaded.createScheduler(${options}).close()`));
  expect(use('{ shards: 1 }')).toEqual(['comlink', 'piscina']);
  expect(use('{ shards: 0 }')).toEqual(['comlink']);
  expect(librariesOf(filesOf('wheel', 'loaded.createWheel().schedule(5, 1)'))).toEqual([]);
  const [never, once] = ['', 'loaded.clearTimeout(loaded.setTimeout(() => {}, 5))'].map((code) =>
    filesOf('timers', code),
  );
  expect(librariesOf(never)).toEqual(['comlink']);
  expect(librariesOf(once)).toEqual(['comlink', 'piscina']); // of 'auto', which may come to have a thread
});
