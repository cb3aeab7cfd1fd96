import { createScheduler, type Scheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { writtenRecipes } from './written-recipes.ts';

const { load } = writtenRecipes('recipes-of-manual-clock');
const manual = (): Scheduler => createScheduler({ shards: 0, clock: 'manual' });

test('periodic-work.ts works once at a time, tells of errors, and stops when the work is done', async () => {
  await using scheduler = manual();
  const { repeatWork } = await load('periodic-work');
  const seen: unknown[] = [];
  const work = async () => {
    const begun = scheduler.now();
    await scheduler.sleep(250);
    seen.push([begun, scheduler.now()]);
    if (seen.length === 1) throw new Error('the first');
  };
  const { stop } = repeatWork(scheduler, 100, work, (error: Error) => seen.push(error.message));
  await scheduler.advanceTo(750);
  expect(seen).toEqual([[100, 350], 'the first', [400, 650]]);
  expect((await scheduler.stats()).overlapped).toBe(4);
  const stopped = stop().then(() => seen.push('stopped'));
  await scheduler.advanceTo(2000);
  await stopped;
  expect(seen.slice(3)).toEqual([[700, 950], 'stopped']);
  expect(scheduler.size).toBe(0);
});

test('mqtt-keepalive.ts ends a client that is silent, not before', async () => {
  await using scheduler = manual();
  const { Keepalive } = await load('mqtt-keepalive');
  const ended: number[] = [];
  const end = (client: number) => ended.push(client);
  const keepalive = new Keepalive(scheduler, 7, 60, end);
  new Keepalive(scheduler, 8, 60, end).close();
  await scheduler.advanceTo(60_000);
  keepalive.touch();
  await scheduler.advanceTo(149_999);
  expect(ended).toEqual([]);
  await scheduler.advanceTo(150_000);
  expect(ended).toEqual([7]);
});

test('backoff.ts', async () => {
  await using scheduler = manual();
  const { retry } = await load('backoff');
  let calls = 0;
  const result = retry(scheduler, async () => {
    calls += 1;
    if (calls < 3) throw new Error('not yet');
    return 'done';
  });
  for (let now = 100; calls < 3; now += 100) {
    await new Promise(setImmediate);
    await scheduler.advanceTo(now);
  }
  expect(await result).toBe('done');
  expect(scheduler.now()).toBeGreaterThanOrEqual(300);
});

test('debounce.ts', async () => {
  await using scheduler = manual();
  const { debounce } = await load('debounce');
  const seen: string[] = [];
  const act = debounce(scheduler, 100, (word: string) => seen.push(word));
  act('a');
  await scheduler.advanceTo(99);
  act('b');
  await scheduler.advanceTo(198);
  expect(seen).toEqual([]);
  await scheduler.advanceTo(199);
  act('c');
  await scheduler.advanceTo(299);
  expect(seen).toEqual(['b', 'c']);
});

test('rate-window.ts', async () => {
  await using scheduler = manual();
  const { RateWindow } = await load('rate-window');
  const window = new RateWindow(scheduler, 2, 1000);
  const allowed = () => [1, 2, 3].map(() => window.allows('key'));
  expect(allowed()).toEqual([true, true, false]);
  expect(window.allows('other')).toBe(true);
  await scheduler.advanceTo(1000);
  expect(allowed()).toEqual([true, true, false]);
  const before = scheduler.size;
  expect(new RateWindow(scheduler, 0, 1000).allows('key')).toBe(false);
  expect(scheduler.size).toBe(before);
});

test('expiring-map.ts', async () => {
  await using scheduler = manual();
  const { ExpiringMap } = await load('expiring-map');
  const map = new ExpiringMap(scheduler);
  map.set('a', 1, 100);
  map.set('b', 2, 100);
  map.set('a', 3, 200);
  map.set('c', 4, 300);
  expect([map.delete('c'), map.delete('c')]).toEqual([true, false]);
  await scheduler.advanceTo(100);
  expect([map.get('a'), map.get('b'), map.size, scheduler.size]).toEqual([3, undefined, 1, 1]);
  await scheduler.advanceTo(200);
  expect([map.get('a'), map.size]).toEqual([undefined, 0]);
});

test('hand-over.ts: what was live goes on, a signal with it; what was waited for has rejected', async () => {
  const scheduler = manual();
  await using successor = manual();
  const { handOver } = await load('hand-over');
  await scheduler.advanceTo(1000);
  await successor.advanceTo(40);
  const seen: unknown[] = [];
  const note = (name: string) => seen.push([name, successor.now()]);
  scheduler.label('idle').scheduleAfter('a', 100, note, 'idle');
  scheduler.scheduleEvery('b', 70, note, 'beat', { first: 20 });
  const outer = new AbortController();
  const [late, disposed, followed] = [90, 90, 95].map((delay) =>
    scheduler.signalAfter(delay, { signal: outer.signal }),
  );
  const slept = scheduler.sleep(50).catch(({ code }) => code);
  expect([await handOver(scheduler, successor), await slept]).toEqual([5, 'ERR_SCHEDULER_CLOSED']);
  expect([successor.size, successor.label('idle').size]).toEqual([5, 1]);
  disposed[Symbol.dispose]();
  await successor.advanceTo(130);
  outer.abort('outer');
  await successor.advanceTo(200);
  expect(seen).toEqual([
    ['beat', 60],
    ['beat', 130],
    ['idle', 140],
    ['beat', 200],
  ]);
  expect([late.reason.code, disposed.aborted, followed.reason]).toEqual(['ERR_TIMEOUT', false, 'outer']);
});
