import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabaseOptionsWithPath } from 'lmdb';
import { type DurableTimers, lmdbStore, memoryStore, openDurableTimers } from 'shardwheel/durable';
import { beforeEach, describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { all, latch, note } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

let folder: string;
let store: string;
let copy: string;
beforeEach(() => {
  folder = newFolder();
  store = join(folder, 'store');
  copy = join(folder, 'copies/copy');
});

const openAt = (path: string): Promise<DurableTimers> =>
  openDurableTimers({ store: lmdbStore({ path }), persistAfter: 60_000, retry: { attempts: 2, delay: 10 } });

describe('a backup of a store that is open', () => {
  test('has its timers, stored and young, its dead letters, and what was under way; the store goes on', async () => {
    const timers = await openAt(store);
    const { opened, open } = latch();
    const begun = latch();
    timers.handle('a', async (_, { key }) => {
      if (key === 'fails') throw new Error('no');
      begun.open();
      await opened;
    });
    const died = new Promise((resolve) => timers.once('dead', resolve));
    await timers.schedule('a', 'fails', Date.now(), 1, { persistAfter: 0 });
    await died;
    await timers.schedule('a', 'runs', Date.now(), 2, { persistAfter: 0 });
    await begun.opened;
    await timers.schedule('a', 'stored', Date.now() + 1e9, 3, { persistAfter: 0 });
    await timers.schedule('a', 'young', Date.now() + 50_000, new Map([[4, 4]]));
    await timers.backup(copy);
    open();
    await timers.cancel('a', 'stored');

    const copied = await openAt(copy);
    expect((await all(copied.timers('a'))).map(({ key }) => key).sort()).toEqual(['runs', 'stored', 'young']);
    expect((await copied.get('a', 'young'))?.payload).toEqual(new Map([[4, 4]]));
    expect((await all(copied.deadLetters('a'))).map(({ key }) => key)).toEqual(['fails']);
    const seen = note(copied);
    await expect.poll(() => seen.map(({ key }) => key), { timeout: 10_000 }).toEqual(['runs']);
    await copied.close();
    expect(await timers.get('a', 'stored')).toBeUndefined();
    await timers.close();
  });

  test('is of one moment: each of its timers has its place in the order of time, whatever is written meanwhile', async () => {
    const timers = await openDurableTimers({ store: lmdbStore({ path: store }) });
    let [goesOn, made] = [true, 0];
    const write = async (): Promise<void> => {
      while (goesOn) {
        const at = made++;
        await timers.schedule('a', `${at}`, Date.now() + 1e7 + at, 'x'.repeat(500));
        if (at % 3 === 0) await timers.cancel('a', `${at}`);
      }
    };
    const writers = Array.from({ length: 20 }, write);
    await expect.poll(() => made, { timeout: 20_000 }).toBeGreaterThan(600);
    await timers.backup(copy);
    goesOn = false;
    await Promise.all(writers);
    await timers.close();

    const root = open({ path: copy, maxDbs: 8 });
    const keys = [...root.openDB('timers', {}).getKeys()].map((key) => (key as string[])[1]).sort();
    const due = [...root.openDB('due', {}).getKeys()].map((key) => (key as string[])[2]).sort();
    await root.close();
    expect(keys.length).toBeGreaterThan(200);
    expect(due).toEqual(keys);
  });

  test('goes into an empty folder; one with files, or a file, is refused and left as it is', async () => {
    const timers = await openAt(store);
    mkdirSync(copy, { recursive: true });
    await timers.backup(copy);
    await expect(timers.backup(copy)).rejects.toMatchObject({
      code: 'ERR_STORE_FAILED',
      message: expect.stringContaining(`${copy} must be an empty folder, or none yet`),
    });
    writeFileSync(join(folder, 'file'), '');
    await expect(timers.backup(join(folder, 'file'))).rejects.toMatchObject({ code: 'ERR_STORE_FAILED' });
    await expect(timers.backup('')).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    await timers.close();
    await expect(timers.backup(join(folder, 'late'))).rejects.toMatchObject({ code: 'ERR_DURABLE_TIMERS_CLOSED' });
    expect(readdirSync(join(folder, 'copies')).concat(readdirSync(copy))).toEqual(['copy', 'data.mdb']);
    expect(existsSync(join(folder, 'late'))).toBe(false);
  });
});

test('a store in memory has no backup', async () => {
  const timers = await openDurableTimers({ store: memoryStore() });
  await expect(timers.backup(copy)).rejects.toMatchObject({ code: 'ERR_STORE_NO_BACKUP' });
  await timers.close();
});

test('the function `open` of lmdb may be given, and is used in place of the package', async () => {
  let calls = 0;
  const given = (options: RootDatabaseOptionsWithPath) => {
    calls += 1;
    return open(options);
  };
  const timers = await openDurableTimers({ store: lmdbStore({ path: store, open: given }) });
  await timers.schedule('a', 'k', Date.now() + 1e9);
  expect(await timers.count()).toBe(1);
  await timers.close();
  expect(calls).toBe(1);
  expect(() => lmdbStore({ path: store, open: 'lmdb' as never })).toThrow(
    'must be the function `open` of the package lmdb',
  );
});

test('a close waits for a backup that is under way: it is whole, and the process lives', async () => {
  const [path, copy] = [join(newFolder(), 'store'), join(newFolder(), 'copy')];
  const { code, stdout, stderr } = await runText(`
    import { lmdbStore, openDurableTimers } from './lib/durable.js';
    const timers = await openDurableTimers({ store: lmdbStore({ path: ${JSON.stringify(path)} }) });
    const far = Date.now() + 1e9;
    for (let at = 0; at < 12; at++)
      await Promise.all(Array.from({ length: 1000 }, (_, n) => timers.schedule('a', at + '-' + n, far, 'x'.repeat(500))));
    const backup = timers.backup(${JSON.stringify(copy)});
    await timers.close();
    await backup;
    const again = await openDurableTimers({ store: lmdbStore({ path: ${JSON.stringify(copy)} }) });
    console.log(await again.count());
    await again.close();`);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '12000\n', stderr: '' });
});
