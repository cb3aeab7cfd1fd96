import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readProfiles } from '../../tools/cli/profile/profile-files.ts';
import { exampleData } from './example-data.ts';
import { folder, runProgram, written } from './profile-program.ts';

describe('the folder of the data', () => {
  test('stays the same when the program changes its working folder', async () => {
    const [first, second] = [mkdtempSync(join(folder, 'first-')), mkdtempSync(join(folder, 'second-'))];
    const path = written(`process.chdir(${JSON.stringify(first)});
      await import(${JSON.stringify(new URL('../../lib/profile.js', import.meta.url).href)});
      setTimeout(() => process.chdir(${JSON.stringify(second)}), 400);`);
    const ended = await runProgram(path, [], { SHARDWHEEL_PROFILE_DIR: 'data' });
    expect(ended).toEqual({ code: 0, output: '' });
    expect(readdirSync(join(first, 'data'))).toHaveLength(1);
    expect(readdirSync(second)).toEqual([]);
    expect(readProfiles(join(first, 'data'))).toMatchObject([{ state: 'ended', totals: { created: 1, fired: 1 } }]);
  });

  // A limit of 20 s ends what tries for ever.
  test.runIf(existsSync('/proc/self'))('may be one that no file system allows: the short report comes', async () => {
    const path = written('setTimeout(() => {}, 400);');
    const { code, output } = await runProgram(path, ['profile'], { SHARDWHEEL_PROFILE_DIR: '/proc/nope/data' });
    expect(code).toBe(0);
    expect(output).toContain('1 created, 0 cleared, 0 refreshed, 1 fired');
  });

  test('that is named by a relative path where there is no working folder: the short report comes', async () => {
    const left = mkdtempSync(join(folder, 'left-'));
    const path = written(`import { rmSync } from 'node:fs';
      process.chdir(${JSON.stringify(left)});
      rmSync(${JSON.stringify(left)}, { recursive: true });
      await import(${JSON.stringify(new URL('../../lib/profile.js', import.meta.url).href)});
      setTimeout(() => {}, 20);`);
    const { code, output } = await runProgram(path, [], { SHARDWHEEL_PROFILE_DIR: 'data' });
    expect(code).toBe(0);
    expect(output).toContain('1 created, 0 cleared, 0 refreshed, 1 fired');
  });
});

/** Every way to leave one part out, or to put something else there: the paths of all parts. */
function partsOf(value: unknown, above: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [[...above, name], ...partsOf(part, [...above, name])]);
}

function changed(value: object, [name, ...below]: readonly string[], part: unknown): object {
  const copy = structuredClone(value);
  const inner = below.length === 0 ? part : changed(Reflect.get(copy, name) as object, below, part);
  Reflect.set(copy, name, inner);
  return copy;
}

test('files that lack a part of a profile, or have another thing there, are skipped', () => {
  const counts = { created: 1, cleared: 0, refreshed: 0, fired: 1 };
  const data = exampleData({
    buckets: [{ from: 1, ...counts }],
    sites: [{ site: 'a.js:1', name: '', from: '', delay: 1, samples: 1, ...counts }],
    series: [{ at: 1, live: 0, pass: 0, busy: 1, ...counts }],
  });
  const isRow = (path: readonly string[]) => /^\d+$/.test(path.at(-1) ?? '');
  const paths = partsOf(data).filter((path) => !isRow(path));
  const kept = join(folder, 'parts');
  mkdirSync(kept);
  const others = paths.flatMap((path) => [changed(data, path, undefined), changed(data, path, null)]);
  others.push({ format: 1 }, { format: 1, totals: {}, process: {} }, [], changed(data, ['format'], 2));
  for (const [at, other] of others.entries()) writeFileSync(join(kept, `${at}.json`), JSON.stringify(other));
  writeFileSync(join(kept, 'null.json'), 'null');
  writeFileSync(join(kept, 'whole.json'), JSON.stringify(data));
  expect(readProfiles(kept)).toEqual([data]);
  expect(paths.length).toBeGreaterThan(80);
});
