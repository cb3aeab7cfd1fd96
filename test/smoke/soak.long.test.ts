import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findDrift, type Sample } from '../../tools/soak/drift.ts';
import { runNode } from '../fixtures/child-process.ts';
import { SEED } from '../fixtures/draws.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();

const run = (flags: string) => runNode(['dist/tools/soak/main.js', ...flags.split(' ')], { limit: 60_000 });
const lastLine = (text: string) => text.trimEnd().split('\n').at(-1);

/** Each runs for some seconds; these things happen more often than that. */
test.each([
  [
    'with a crash each half second',
    '--minutes 0.08 --cps 5000 --shards 2 --crash-every 0.5 --block-every 1 --burst-every 2 --burst 2000',
    // connections: as many as the machine has time for
    { connections: 1000, restarts: 1, crashes: 4, blocks: 1, bursts: 0 },
  ],
  [
    'with clients on other event loops, one of which is ended each second',
    '--minutes 0.1 --cps 6000 --shards 1 --clients 2 --client-every 1 --crash-every 1 --block-every 2',
    { clientsEnded: 1 },
  ],
])('npm run soak %s: every timer is accounted for', async (_, flags, happened) => {
  const json = join(folder, 'result.json');
  const { code, stdout, stderr } = await run(`${flags} --json ${json}`);
  const { crashes, ...result } = JSON.parse(readFileSync(json, 'utf8'));
  expect(result.faults).toEqual([]);
  expect({ code, end: lastLine(stdout) }).toEqual({ code: 0, end: 'Nothing lost.' });
  expect(stderr).toMatch(/conn\/s/);
  expect(result.verdict).toMatchObject({ early: 0, lost: 0, doubled: 0, refused: 0 });
  if (flags.includes('--clients')) expect(result.armed).toBeGreaterThan(result.connections);
  else expect(result.armed).toBe(result.verdict.fired + result.cancelled + result.verdict.handedBack);
  const counts = { ...result, crashes: Object.values<number>(crashes).reduce((sum, times) => sum + times) };
  for (const [what, times] of Object.entries(happened)) expect(counts[what], what).toBeGreaterThan(times);
});

test('npm run soak -- wheel: as many moves as asked for, on two threads, none of which differs', async () => {
  const { code, stdout } = await run(`wheel --operations 100000 --threads 2 --seed ${SEED}`);
  expect({ code, end: lastLine(stdout) }).toEqual({ code: 0, end: 'No difference.' });
  const [, seed, operations] = /^Seed (\d+): ([\d,]+) operations in .* on 2 threads/m.exec(stdout) ?? [];
  expect(Number(seed)).toBe(SEED);
  expect(Number(operations.replaceAll(',', ''))).toBeGreaterThanOrEqual(100_000);
});

test('one world again', async () => {
  const { code, stdout } = await run(`wheel --world 7 --seed ${SEED}`);
  expect(code).toBe(0);
  expect(stdout).toMatch(/│ pinned +│ +1 │/);
});

describe('drift from the middle third of a run to its last', () => {
  const MiB = 2 ** 20;
  const steady: Omit<Sample, 'at'> = {
    ...{ live: 400_000, rss: 300 * MiB, handles: 3, threads: 13 },
    ...{ filed: 500_000, wheelBytes: 40 * MiB, highWater: 450_000, peak: 440_000 },
  };

  /** 90 samples of which `change` makes something else, by how far the run has come: 0 to 1. */
  const samples = (change: (share: number, index: number) => Partial<Sample>): Sample[] =>
    Array.from({ length: 90 }, (_, at) => ({ at, ...steady, ...change(at / 90, at) }));

  test('none where all is steady, or swings, or warms up', () => {
    expect(findDrift(samples(() => ({})))).toEqual([]);
    expect(findDrift(samples((_, at) => ({ rss: (300 + (at % 7) * 10) * MiB, handles: 3 + (at % 3) })))).toEqual([]);
    const young = { rss: 50 * MiB, handles: 1, highWater: 5 };
    expect(findDrift(samples((share) => (share < 1 / 3 ? young : {})))).toEqual([]);
  });

  test.each<[keyof Sample, (share: number) => Partial<Sample>]>([
    ['rss', (share) => ({ rss: (300 + 600 * share) * MiB })],
    ['handles', (share) => ({ handles: 3 + Math.floor(share * 9) })],
    ['threads', (share) => ({ threads: 13 + Math.floor(share * 9) })],
    ['filed', (share) => ({ filed: 500_000 + 2e6 * share })],
    ['wheelBytes', (share) => ({ wheelBytes: (40 + 500 * share) * MiB })],
  ])('%s', (field, change) => {
    const found = findDrift(samples(change));
    expect(found.length).toBe(1);
    expect(found[0]).toMatch(new RegExp(`^${field} grew from \\d+ to \\d+`));
  });

  test('memory may grow with the timers that are live', () => {
    const grow = (share: number) => ({ live: 4e6 * share, rss: (300 + 800 * share) * MiB, filed: 4e6 * share });
    expect(findDrift(samples(grow))).toEqual([]);
    expect(findDrift(samples((share) => ({ ...grow(share), live: 400_000 }))).length).toBe(2);
  });

  test('tables that have been fuller than timers lived at once', () => {
    const full = (highWater: number, peak: number) => findDrift(samples(() => ({ highWater, peak })));
    expect(full(900_000, 800_000)).toEqual([]);
    expect(full(2_000_000, 800_000)).toEqual([expect.stringMatching(/^2000000 table slots .* 800000 timers/)]);
  });

  test('of few samples nothing is said', () => {
    expect(findDrift(samples((share) => ({ handles: 100 * share })).slice(0, 20))).toEqual([]);
  });
});
