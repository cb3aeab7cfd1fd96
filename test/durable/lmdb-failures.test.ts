import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from 'lmdb';
import { type DurableTimers, lmdbStore, openDurableTimers } from 'shardwheel/durable';
import { beforeEach, describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { all } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

const isLinux = process.platform === 'linux';

/** The flag by which Node asks for permissions. */
const permission = ['--permission', '--experimental-permission'].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
) as string;

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

async function started(name: string): Promise<ChildProcess> {
  const program = fileURLToPath(new URL(`./programs/${name}.mjs`, import.meta.url));
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const openAt = (path: string): Promise<DurableTimers> => openDurableTimers({ store: lmdbStore({ path }) });
const refusal = (path: string) =>
  openAt(path)
    .then(() => undefined)
    .catch((error: unknown) => error);

async function filled(path: string): Promise<string> {
  const timers = await openAt(path);
  const keys = Array.from({ length: 2000 }, (_, at) => `${at}`);
  await Promise.all(keys.map((key) => timers.schedule('a', key, Date.now() + 1e9, 'x'.repeat(100))));
  await timers.close();
  return join(path, 'data.mdb');
}

function moved(path: string): string {
  renameSync(path, `${path}-before`);
  return path;
}

test('a folder that does not exist yet is created, with those above it', async () => {
  const timers = await openAt(join(folder, 'a/b/c'));
  await timers.schedule('a', 'k', Date.now() + 1e9);
  await timers.close();
  expect(statSync(join(folder, 'a/b/c/data.mdb')).size).toBeGreaterThan(0);
});

test.each([8192, 100, 4096, 1])(
  'a file of %i other bytes is refused as damaged, and the process lives',
  async (size) => {
    writeFileSync(join(folder, 'data.mdb'), Buffer.alloc(size, 0xab));
    expect(await refusal(folder)).toMatchObject({
      code: 'ERR_STORE_CORRUPT',
      message: `The LMDB store ${folder} is damaged, or is not a store: its file data.mdb is not of LMDB`,
    });
  },
);

test('an empty file is a new store', async () => {
  writeFileSync(join(folder, 'data.mdb'), '');
  await (await openAt(folder)).close();
});

test('a file that was cut off is refused as damaged', async () => {
  const file = await filled(folder);
  const { size } = statSync(file);
  for (const length of [size - 1, size / 2, 8192]) {
    truncateSync(file, length);
    expect(await refusal(folder)).toMatchObject({
      code: 'ERR_STORE_CORRUPT',
      message: expect.stringContaining(`${length} bytes of`),
    });
  }
});

test('a store of another version is refused, and left as it is', async () => {
  await filled(folder);
  const root = open({ path: folder, maxDbs: 8 });
  await root.put('schema', 99);
  await root.close();
  expect(await refusal(folder)).toMatchObject({
    code: 'ERR_STORE_VERSION',
    message: `The timers in ${folder} have schema version 99; this version of shardwheel reads 2`,
  });
});

test('a process that may read nothing but the program and the store opens it', async () => {
  const flags = [permission, '--allow-addons', `--allow-fs-read=${process.cwd()}`, `--allow-fs-read=${folder}`];
  const text = `import { lmdbStore, openDurableTimers } from 'shardwheel/durable';
    await (await openDurableTimers({ store: lmdbStore({ path: '${folder}' }) })).close();`;
  expect(await runText(text, [...flags, `--allow-fs-write=${folder}`])).toMatchObject({ code: 0, stdout: '' });
});

describe('a process that may not', () => {
  const read = [permission, '--allow-addons', '--allow-fs-read=*'];

  test.each([
    [
      'load addons',
      ['--no-addons'],
      'ERR_STORE_PACKAGE_FAILED',
      /needs the package 'lmdb', which cannot be loaded from .*lmdb/,
    ],
    ['make the folder', read, 'ERR_STORE_READ_ONLY', /is denied to this process/],
    [
      'read the folder',
      [...read.slice(0, 2), `--allow-fs-read=${process.cwd()}`],
      'ERR_STORE_READ_ONLY',
      /is denied to/,
    ],
  ])('%s is told so', async (_, flags, code, message) => {
    const text = `import { lmdbStore, openDurableTimers } from './lib/durable.js';
      await openDurableTimers({ store: lmdbStore({ path: '${join(folder, 'none')}' }) }).catch(({ name, code, message }) =>
        console.log(JSON.stringify({ name, code, message })));`;
    const { stdout } = await runText(text, flags);
    expect(JSON.parse(stdout)).toEqual({ name: 'DurableStoreError', code, message: expect.stringMatching(message) });
  });
});

test('a path that is a file, below one, a device, or where no folder can be, is refused', async () => {
  writeFileSync(join(folder, 'file'), 'text');
  expect(await refusal(join(folder, 'file'))).toMatchObject({ code: 'ERR_STORE_FAILED' });
  expect(await refusal(join(folder, 'file/below'))).toMatchObject({ code: 'ERR_STORE_FAILED' });
  expect(await refusal('/dev/null')).toMatchObject({ message: expect.stringContaining('must be a folder') });
  if (!isLinux) return; // where no folder can be is elsewhere on other systems
  expect(await refusal('/proc/none')).toMatchObject({ code: 'ERR_STORE_READ_ONLY' });
});

test('after a refusal the same store opens once the reason is gone', async () => {
  mkdirSync(join(folder, 'store'));
  writeFileSync(join(folder, 'store/data.mdb'), 'text');
  const store = lmdbStore({ path: join(folder, 'store') });
  await expect(openDurableTimers({ store })).rejects.toThrow('is damaged');
  rmSync(join(folder, 'store/data.mdb'));
  await (await openDurableTimers({ store })).close();
});

test('a thousand may have a store open; one more is told that there is no place', async () => {
  await filled(join(folder, 'own'));
  expect(statSync(join(folder, 'own/lock.mdb')).size, 'a line of cache for each').toBeGreaterThan(1000 * 64);
  const child = await started('reader');
  expect(await refusal(folder)).toMatchObject({
    code: 'ERR_STORE_FULL',
    message: expect.stringContaining('has no place for a further process'),
  });
  await kill(child);
  await (await openAt(folder)).close();
});

describe.skipIf(process.platform === 'win32')('a folder that goes while the store is open', () => {
  const gone = {
    code: 'ERR_STORE_GONE',
    message: expect.stringContaining('its folder was removed, moved or replaced'),
  };
  const ways: [string, (path: string) => unknown][] = [
    ['is removed', (path) => rmSync(path, { recursive: true })],
    ['is moved', moved],
    ['is replaced by another', (path) => filled(moved(path))],
  ];

  test.each(ways)('%s: nothing is confirmed any more', async (_, go) => {
    const path = join(folder, 'store');
    const timers = await openAt(path);
    timers.on('error', () => undefined);
    await timers.schedule('a', 'k', Date.now() + 1e9);
    await go(path);
    const calls = [
      () => timers.schedule('a', 'other', Date.now() + 1e9),
      () => timers.reschedule('a', 'k', Date.now() + 1e9),
      () => timers.cancel('a', 'k'),
      () => timers.get('a', 'k'),
      () => timers.count(),
      () => all(timers.timers('a')),
      () => timers.close(),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject(gone);
  });

  test('an error says so without any call, and young timers are not taken for stored', async () => {
    const path = join(folder, 'store');
    const timers = await openDurableTimers({ store: lmdbStore({ path }), persistAfter: 60_000 });
    timers.handle('a', () => undefined);
    await timers.schedule('a', 'young', Date.now() + 1e6);
    const told = once(timers, 'error');
    rmSync(path, { recursive: true });
    expect(await told).toMatchObject([gone]);
    await expect(timers.flush()).rejects.toMatchObject(gone);
    await expect(timers.close()).rejects.toMatchObject({ code: 'ERR_STORE_GONE' });
  });
});

// Only Linux has prlimit, which stands for the full disk.
test.runIf(isLinux)(
  'a disk that is full: calls reject, what was confirmed is there, and room is made by cancelling',
  async () => {
    const program = fileURLToPath(new URL('./programs/filling.mjs', import.meta.url));
    const { stdout, stderr, status } = spawnSync('prlimit', ['--fsize=2000000', process.execPath, program, folder], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { stored, counted, ...rest } = JSON.parse(stdout);
    expect(stored).toBeGreaterThan(1000);
    expect(counted).toBe(stored);
    const codes = ['DurableStoreError ERR_STORE_FAILED'];
    expect(rest).toEqual({ isCancelled: true, codes, errors: [], unhandled: [] });
    const timers = await openAt(folder);
    expect(await timers.count()).toBe(stored - 1);
    await timers.close();
  },
);

describe('another process that holds the lock of the store, and stands still', () => {
  test('calls reject in time, reads go on, and what was asked for is done once the lock is free', async () => {
    const timers = await openDurableTimers({ store: lmdbStore({ path: folder, timeout: 1000 }) });
    await timers.schedule('a', 'before', Date.now() + 1e9, 1);
    const child = await started('lock-holder');
    const stuck = await Promise.allSettled([
      timers.schedule('a', 'meanwhile', Date.now() + 1e9),
      timers.cancel('a', 'before'),
    ]);
    for (const { reason } of stuck as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({
        code: 'ERR_STORE_UNREACHABLE',
        message:
          `The LMDB store ${folder} has not answered in 1000 ms: ` +
          'another process holds its lock, or the disk does not write',
      });
    }
    expect((await timers.get('a', 'before'))?.payload).toBe(1);
    await expect(timers.schedule('a', 'later', Date.now() + 1e9)).rejects.toThrow('has not answered in');
    await kill(child);
    await timers.schedule('a', 'after', Date.now() + 1e9);
    const keys = (await all(timers.timers('a'))).map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(['after', 'meanwhile']));
    expect(keys).not.toContain('before');
    await timers.close();
  });

  test('no store is closed for ever', async () => {
    const timers = await openDurableTimers({ store: lmdbStore({ path: folder, timeout: 1000 }) });
    const child = await started('lock-holder');
    await expect(timers.close()).rejects.toMatchObject({ code: 'ERR_STORE_UNREACHABLE' });
    await kill(child);
    await (await openAt(folder)).close();
  });
});
