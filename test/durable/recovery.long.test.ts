import { lmdbStore, openDurableTimers, type RecoveryProgress } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { pause } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

const TIMERS = 20_000;
/** Timers that are read in one go. */
const PAGE = 500;

test.each([
  ['nearLimit: 1000', { nearLimit: 1000 }, 1000],
  ['the default', {}, 2000],
])(
  `${TIMERS} timers that were due while nothing ran, %s: each once, few in memory, with reports`,
  async (_, options, limit) => {
    const path = newFolder();
    const before = await openDurableTimers({ store: lmdbStore({ path }) });
    const deadline = Date.now() - 1000;
    for (let at = 0; at < TIMERS; at += 1000) {
      const keys = Array.from({ length: 1000 }, (_, more) => `${at + more}`);
      await Promise.all(keys.map((key) => before.schedule('a', key, deadline + Number(key) / 100)));
    }
    await before.close();

    const timers = await openDurableTimers({ store: lmdbStore({ path }), concurrency: 8, ...options });
    const reports: RecoveryProgress[] = [];
    timers.on('recovery', (progress) => reports.push(progress));
    const seen = new Map<string, number>();
    timers.handle('a', async (_, { key }) => {
      seen.set(key, (seen.get(key) ?? 0) + 1);
      await pause(1);
    });
    let most = 0;
    while (reports.at(-1)?.isDone !== true) {
      most = Math.max(most, (await timers.stats()).store?.near ?? 0);
      await pause(20);
    }
    expect(seen.size).toBe(TIMERS);
    expect([...seen.values()].every((times) => times === 1)).toBe(true);
    expect(most).toBeGreaterThan(limit / 4);
    expect(most).toBeLessThanOrEqual(limit + PAGE);
    expect(reports.length).toBeGreaterThan(1);
    const { overdue, delivered } = reports.at(-1) as RecoveryProgress;
    expect(delivered).toBe(overdue);
    for (const [at, report] of reports.entries()) {
      expect(report.delivered).toBeGreaterThanOrEqual(reports[at - 1]?.delivered ?? 0);
    }
    expect(await timers.count()).toBe(0);
    await timers.close();
  },
  300_000, // on a disk that others use
);

test('names that are handled later are reported as well, and a listener that throws ends no report', async () => {
  const path = newFolder();
  const before = await openDurableTimers({ store: lmdbStore({ path }) });
  const deadline = Date.now() - 1000;
  const names = ['first', 'second'];
  for (const name of names) {
    await Promise.all(Array.from({ length: 500 }, (_, at) => before.schedule(name, `${at}`, deadline)));
  }
  await before.close();

  const timers = await openDurableTimers({ store: lmdbStore({ path }), concurrency: 1 });
  const errors: unknown[] = [];
  timers.on('error', (error) => errors.push(error));
  let reports: RecoveryProgress[] = [];
  timers.on('recovery', (progress) => {
    reports.push(progress);
    throw new Error('of a listener');
  });
  timers.handle('empty', () => undefined);
  await pause(2500); // the first look finds nothing
  expect(reports).toEqual([]);
  for (const name of names) {
    timers.handle(name, () => pause(8));
    while (reports.at(-1)?.isDone !== true) await pause(20);
    expect(reports.length).toBeGreaterThan(1);
    reports = [];
  }
  expect(errors.length).toBeGreaterThan(0);
  await timers.close();
});
