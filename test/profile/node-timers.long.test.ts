import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { laterTests, programAfter } from '../timers/node/node-names.ts';
import { required } from '../timers/node/options.ts';
import { runProgram } from '../timers/node/run-program.ts';

// The programs after Node's own tests of its timers, on Node's timers while they are profiled: nothing may be different.

const profile = new URL('../../lib/profile.js', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'profile-'));
afterAll(() => rmSync(folder, { recursive: true }));

const major = Number.parseInt(process.versions.node, 10);
const later = new Map(Object.entries(laterTests).map(([name, { passesSince }]) => [programAfter(name), passesSince]));
const programs = readdirSync(fileURLToPath(new URL('../timers/node/programs', import.meta.url)), {
  recursive: true,
  encoding: 'utf8',
})
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /(^|\/)test-[^/]*\.[cm]js$/.test(file))
  .filter((file) => (later.get(file.replace(/\.[cm]js$/, '')) ?? 0) <= major)
  // They see that anything at all was loaded by --import, on Node 20; and --require loads no module there.
  .filter((file) => !required.includes(file.replace(/\.[cm]js$/, '')))
  .sort();

describe.concurrent('while it is profiled', () => {
  test.each(programs)('%s', { timeout: 600_000 }, async (file) => {
    const ended = await runProgram(file, ['--import', profile.href], { SHARDWHEEL_PROFILE_DIR: folder });
    expect(ended).toEqual({ code: 0, output: '' });
  });
});

test('all of them were', () => {
  expect(programs.length).toBeGreaterThan(80);
});
