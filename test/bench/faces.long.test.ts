import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { releaseOf } from '../../bench/engine/release-results.ts';
import { readReleases, readResults } from '../../bench/engine/results-file.ts';
import { gcPausesOf } from '../../bench/suites/faces/gc-pauses.ts';

const main = fileURLToPath(new URL('../../dist/bench/main.js', import.meta.url));

describe('the bench of the drop-in timers', () => {
  it('measures all faces in one process, and keeps the results beside those of other releases', async () => {
    const folder = mkdtempSync(`${tmpdir()}/bench-`);
    const file = `${folder}/faces.json`;
    writeFileSync(file, '{"9":{"date":"2020-01-01","comparisons":[]}}');
    const flags = ['--json', `${folder}/results.json`, '--by-release', file];
    const words = ['faces', '1k-varied', '--quick', '--rounds', '2'];
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...words, ...flags]);
    expect(stdout).toMatch(/× = node:timers +│ +node:timers +│ +shardwheel\/timers/); // figures stand below each other
    const results = readResults(readFileSync(`${folder}/results.json`, 'utf8'));
    expect(results.command).toBe(`npm run bench -- ${words.join(' ')}`);
    const kept = { date: '2020-01-01', comparisons: [], targets: [] };
    expect(readReleases(readFileSync(file, 'utf8'))).toEqual({ 9: kept, [releaseOf(results)]: results });
    const [{ rows }] = results.comparisons;
    for (const subject of ['node:timers', 'shardwheel/timers', 'registered']) {
      const figures = rows.filter((row) => row.subject === subject).map(({ figure }) => figure);
      expect(figures).toEqual(expect.arrayContaining(['clear + set', 'refresh', 'set + fire', 'heap', 'paused']));
    }
    const timed = rows.filter(({ figure }) => ['clear + set', 'refresh', 'set + fire'].includes(figure));
    expect(timed.length).toBe(9);
    for (const { value } of timed) expect(value.least).toBeGreaterThan(0);
  });

  it('counts the pauses of what it runs, and none before or after', async () => {
    const garbage = () => {
      let last: unknown;
      for (let i = 0; i < 3e6; i++) last = [last === undefined, i, `${i}`];
      return last;
    };
    garbage();
    const idle = await gcPausesOf(async () => undefined);
    const busy = await gcPausesOf(async () => void garbage());
    garbage();
    expect(idle).toEqual({ count: 0, total: 0, longest: 0 });
    expect(busy.count).toBeGreaterThan(1);
    expect(busy.longest).toBeGreaterThan(0);
    expect(busy.total).toBeGreaterThan(busy.longest);
  });
});
