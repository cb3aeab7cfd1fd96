import type { Redis } from 'ioredis';
import { open } from 'lmdb';
import { bullmqStore, type DurableStore, lmdbStore, PayloadError } from 'shardwheel/durable';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hasRedis } from '../../bench/suites/durable/redis-server.ts';
import { all, note, Stores, soon } from './conformance/stores.ts';
import { newFolder } from './folder.ts';
import { suiteWithRedis } from './suite-with-redis.ts';

type Damage = (stored: Buffer) => Buffer;
/** What may stand in a value in the place of what was written. */
const damages: [string, Damage][] = [
  ['cut off', (stored) => stored.subarray(0, stored.length >> 1)],
  ['with more behind it', (stored) => Buffer.concat([stored, Buffer.from('}]x')])],
  ['a number', () => Buffer.from('5')],
  ['other text', () => Buffer.from('garbage')],
  ['empty', () => Buffer.alloc(0)],
];

/** A store, and how what it keeps is changed behind its back while it is closed. */
interface Kind {
  open(): DurableStore;
  create(): void;
  destroy(): Promise<void>;
  damage(key: string, how: Damage): Promise<void>;
  damageDead(key: string, how: Damage): Promise<void>;
}

function testDamaged(title: string, kind: Kind): void {
  describe(`one record is damaged: ${title}`, () => {
    const stores = new Stores(kind);
    beforeEach(() => kind.create());
    afterEach(() => stores.end());
    const corrupt = { name: 'DurableStoreError', code: 'ERR_STORE_CORRUPT' };

    async function damaged(due: number, how: Damage) {
      const before = await stores.start();
      for (const key of ['a', 'b', 'c']) await before.schedule('a', key, due, key);
      await before.close();
      await kind.damage('b', how);
      const timers = await stores.start({ concurrency: 1 });
      const errors: Error[] = [];
      timers.on('error', (error) => errors.push(error));
      return { timers, errors };
    }

    test.each(damages)('%s: calls say so, others are seen, and the timer can be replaced', async (_, how) => {
      const { timers, errors } = await damaged(soon(1_000_000), how);
      await expect(timers.get('a', 'b')).rejects.toMatchObject(corrupt);
      await expect(timers.reschedule('a', 'b', soon(1_000_000))).rejects.toMatchObject(corrupt);
      expect((await all(timers.timers('a'))).map(({ key }) => key).sort()).toEqual(['a', 'c']);
      expect(errors).toMatchObject([corrupt]);
      expect(await timers.count('a')).toBe(2);
      expect((await timers.stats()).store).toMatchObject({ stored: 3, overdue: 0 });
      expect(await timers.schedule('a', 'b', soon(2_000_000), 'new', { ifAbsent: true })).toBe(true);
      expect(await timers.get('a', 'b')).toMatchObject({ payload: 'new' });
      expect((await all(timers.timers('a'))).map(({ key }) => key).sort()).toEqual(['a', 'b', 'c']);
      expect(await timers.cancel('a', 'b')).toBe(true);
      expect(await timers.count()).toBe(2);
    });

    test.each(damages)('%s: it can be cancelled, or scheduled, and leaves nothing', async (_, how) => {
      const { timers } = await damaged(soon(1_000_000), how);
      expect(await timers.cancel('a', 'b')).toBe(true);
      expect(await timers.cancel('a', 'b')).toBe(false);
      expect(await timers.count()).toBe(2);
      await timers.close();
      await kind.damage('c', how);
      const next = await stores.start();
      await next.schedule('a', 'c', soon(0), 'new');
      const seen = note(next);
      await stores.until(() => seen.length === 1);
      expect(seen).toMatchObject([{ key: 'c', payload: 'new', attempt: 1 }]);
      await stores.until(async () => (await next.count()) === 1);
    });

    test.each(damages)('%s: others are delivered, and it is a dead letter', async (_, how) => {
      const { timers, errors } = await damaged(soon(0), how);
      const died: string[] = [];
      timers.on('dead', ({ key }) => died.push(key));
      const seen = note(timers);
      await stores.until(() => seen.length === 2 && died.length === 1);
      expect(seen.map(({ key }) => key).sort()).toEqual(['a', 'c']);
      expect(errors).toMatchObject([corrupt]);
      await stores.until(async () => (await timers.count()) === 0);
      const [letter, ...more] = await all(timers.deadLetters('a'));
      expect(letter).toMatchObject({ key: 'b', reason: 'What was stored of it is damaged' });
      expect(letter.payload).toBeInstanceOf(PayloadError);
      expect(more).toEqual([]);
      await stores.until(async () => (await timers.stats()).store?.stored === 0);
      expect((await timers.stats()).store).toMatchObject({ overdue: 0, active: 0, dead: 1 });
    });

    test.each(damages)('%s: a dead letter is shown, with the others, and can be removed', async (_, how) => {
      const before = await stores.start({ retry: { attempts: 1 } });
      note(before, () => {
        throw new Error('as the test wants it');
      });
      for (const key of ['a', 'b', 'c']) await before.schedule('a', key, soon(0), key);
      await stores.until(async () => (await all(before.deadLetters('a'))).length === 3);
      await before.close();
      await kind.damageDead('b', how);
      const timers = await stores.start();
      const found = (await all(timers.deadLetters('a'))).sort((one, other) => (one.key < other.key ? -1 : 1));
      const payload = expect.any(PayloadError);
      expect(found).toMatchObject([{ payload: 'a' }, { key: 'b', diedAt: 0, payload }, { payload: 'c' }]);
      expect(await timers.removeDeadLetter('a', 'b')).toBe(true);
      expect(await all(timers.deadLetters('a'))).toHaveLength(2);
    });
  });
}

let path = '';

async function change(database: 'timers' | 'dead', key: string, how: Damage): Promise<void> {
  const root = open({ path, maxDbs: 8, maxReaders: 1000, noSubdir: false });
  const values = root.openDB<Buffer, string[]>(database, { useVersions: database === 'timers', encoding: 'binary' });
  const { value, version } = values.getEntry(['a', key]) as { value: Buffer; version?: number };
  if (version === undefined) await values.put(['a', key], how(value));
  else await values.put(['a', key], how(value), version);
  await root.close();
}

testDamaged('LMDB', {
  open: () => lmdbStore({ path }),
  create: () => {
    path = newFolder();
  },
  destroy: async () => undefined,
  damage: (key, how) => change('timers', key, how),
  damageDead: (key, how) => change('dead', key, how),
});

describe.skipIf(!hasRedis)('Redis', () => {
  let connection: Redis;
  let made = 0;
  suiteWithRedis((own) => {
    connection = own;
  });
  const keyOf = (rest: string): string => `bull:damaged-${process.pid}-${made}:${rest}`;
  async function changeField(key: string, field: string, how: Damage): Promise<void> {
    await connection.hset(key, field, how(Buffer.from((await connection.hget(key, field)) as string)));
  }

  testDamaged('BullMQ', {
    open: () => bullmqStore({ connection, queue: `damaged-${process.pid}-${made}`, stalledAfter: 1000 }),
    create: () => {
      made += 1;
    },
    destroy: async () => undefined,
    damage: async (key, how) => changeField(keyOf(`${await connection.get(keyOf(`de:a/${key}`))}`), 'data', how),
    damageDead: (key, how) => changeField(keyOf('shardwheel-dead'), `a/${key}`, how),
  });
});
