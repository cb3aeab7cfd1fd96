import { createScheduler } from 'shardwheel';
import {
  bullmqStore,
  type DurableOptions,
  type DurableTimers,
  lmdbStore,
  memoryStore,
  openDurableTimers,
  type ScheduleOptions,
} from 'shardwheel/durable';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pause } from './conformance/stores.ts';

describe('options', () => {
  const store = memoryStore();
  test.each<[unknown, string]>([
    [undefined, 'The options must be an object with a store, got undefined'],
    [{ store: {} }, 'The options.store must be a store'],
    [{ store: undefined }, 'lmdbStore({ path }), bullmqStore({ connection, queue }) or memoryStore(), got undefined'],
    [{ horizn: 5 }, "options.horizn is not an option: did you mean 'horizon'?, got 5"],
    [{ horizon: 999 }, 'options.horizon must be a number of ms from 1000 to 86400000, got 999'],
    [{ persistAfter: -1 }, 'options.persistAfter must be a number of ms from 0 to 3600000, got -1'],
    [{ concurrency: 1.5 }, 'options.concurrency must be an integer from 1 to 10000, got 1.5'],
    [{ maxPayloadBytes: Number.NaN }, 'options.maxPayloadBytes must be an integer'],
    [{ payloadFormat: 'xml' }, "options.payloadFormat must be 'structured-clone' or 'json', got 'xml'"],
    [{ retry: { attempts: 0 } }, 'options.retry.attempts must be an integer from 1 to 1000, got 0'],
    [{ retry: { delay: 50, maxDelay: 20 } }, 'must be a number of ms from options.retry.delay, which is 50'],
    [{ retry: { dely: 1 } }, "options.retry.dely is not an option: did you mean 'delay'?"],
    [{ scheduler: {} }, 'The scheduler must be a Scheduler'],
  ])('%o', async (options, message) => {
    const all = (options === undefined ? options : { store, ...options }) as DurableOptions;
    await expect(openDurableTimers(all)).rejects.toThrow(message);
  });

  const connection = { duplicate() {} };
  const cluster = { ...connection, isCluster: true };
  test.each<[() => unknown, string]>([
    [() => lmdbStore({ path: '' }), "The options.path must be the path of a folder, got ''"],
    [() => lmdbStore({ path: 'x', paht: 1 } as never), "options.paht is not an option: did you mean 'path'?"],
    [() => lmdbStore({ path: 'x', timeout: 0 }), 'options.timeout must be a number of ms from 100 to 600000, got 0'],
    [() => lmdbStore(undefined as never), 'The options must be an object with a path'],
    [() => memoryStore(lmdbStore({ path: 'x' })), 'The of must be a store that memoryStore() has made'],
    [() => bullmqStore({ queue: 'q' } as never), 'The options.connection must be a client of ioredis'],
    [() => bullmqStore({ connection: {}, queue: 'q' } as never), 'The options.connection must be a client of ioredis'],
    [() => bullmqStore({ connection, queue: 'a:b' } as never), "options.queue must be a name without ':', got 'a:b'"],
    [() => bullmqStore({ connection, queue: 'q', prefix: '' } as never), 'options.prefix must be a text'],
    [() => bullmqStore({ connection, queue: 'q', bullmq: { Queue: 1 } } as never), 'options.bullmq must be the module'],
    [
      () => bullmqStore({ connection: { ...connection, options: { keyPrefix: 'a' } }, queue: 'q' } as never),
      'keyPrefix',
    ],
    [
      () => bullmqStore({ connection: cluster, queue: 'q' } as never),
      'options.queue must have a hash tag in a Redis Cl',
    ],
    [() => bullmqStore({ connection: cluster, queue: '{}q{a}' } as never), 'options.queue must have a hash tag'],
    [() => bullmqStore({ connection: cluster, queue: '}a{' } as never), 'options.queue must have a hash tag'],
    [() => bullmqStore({ connection, queue: 'q', timeout: 5 } as never), 'from 100 to 600000, got 5'],
    [() => bullmqStore({ connection, queue: 'q', stalledAfter: 5 } as never), 'options.stalledAfter must be'],
  ])('of a store: %o', (make, message) => {
    expect(make).toThrow(message);
  });
});

describe('arguments', () => {
  let timers: DurableTimers;
  beforeEach(async () => {
    timers = await openDurableTimers({ store: memoryStore(), maxPayloadBytes: 100 });
  });
  afterEach(() => timers.close());

  test.each<[unknown, string]>([
    [5, 'The options must be an object'],
    [{ concurrency: 0 }, 'options.concurrency must be an integer from 1 to 10000, got 0'],
    [{ timeout: 0 }, 'options.timeout must be a number of ms from 1 to 2147483647, got 0'],
    [{ timeout: Number.POSITIVE_INFINITY }, 'from 1 to 2147483647, got Infinity'],
    [{ parallel: 5 }, "options.parallel is not an option: did you mean 'concurrency'?"],
  ])('options of a handler: %o', (options, message) => {
    expect(() => timers.handle('a', () => 0, options as object)).toThrow(message);
    timers.handle('a', () => 0); // nothing was handled
  });

  test.each<unknown>(['', 5, undefined, 'a\0b', '\uD800', 'x'.repeat(129)])('name %o', async (name) => {
    const bad = name as string;
    const calls = [timers.schedule(bad, 'k', 1), timers.cancel(bad, 'k'), timers.get(bad, 'k')];
    for (const call of [...calls, timers.timers(bad).next()])
      await expect(call).rejects.toThrow('The name must be a string of 1 to 128 bytes');
    expect(() => timers.handle(bad, () => undefined)).toThrow('The name must be');
  });

  test.each<unknown>(['', 5, null, 'a\0b', 'é'.repeat(513)])('key %o', async (key) => {
    const bad = key as string;
    for (const call of [timers.schedule('a', bad, 1), timers.cancel('a', bad), timers.get('a', bad)]) {
      await expect(call).rejects.toThrow('The key must be a string of 1 to 1024 bytes');
    }
  });

  test.each<unknown>([Number.NaN, Number.POSITIVE_INFINITY, '5', new Date('x'), undefined, 8.65e15])(
    'deadline %o',
    async (deadline) => {
      await expect(timers.schedule('a', 'k', deadline as Date)).rejects.toMatchObject({ code: 'ERR_INVALID_DEADLINE' });
      expect(await timers.count()).toBe(0);
    },
  );

  test('payloads that are too large, or cannot be cloned', async () => {
    const tooLarge = timers.schedule('a', 'k', 1, 'x'.repeat(100));
    await expect(tooLarge).rejects.toThrow('more than options.maxPayloadBytes, which is 100');
    const noData = timers.schedule('a', 'k', 1, () => undefined);
    await expect(noData).rejects.toMatchObject({ code: 'ERR_PAYLOAD_NOT_CLONEABLE' });
    expect(await timers.count()).toBe(0);
  });

  test.each<unknown>([5, { within: -1 }, { within: Number.NaN }, { withn: 5 }])(
    'options of close: %o',
    async (options) => {
      await expect(timers.close(options as object)).rejects.toThrow(/must be|is not an option/);
      expect(await timers.count()).toBe(0); // nothing was closed
    },
  );

  test('handlers', () => {
    expect(() => timers.handle('a', 5 as never)).toThrow('The handler must be a function, got 5');
    timers.handle('a', () => undefined);
    expect(() => timers.handle('a', () => undefined)).toThrow('The name must be one that has no handler yet');
  });

  test.each<unknown>([Number.NaN, Number.POSITIVE_INFINITY, '5', undefined, 8.65e15])('delay %o', async (delay) => {
    const call = timers.scheduleAfter('a', 'k', delay as number);
    await expect(call).rejects.toMatchObject({ code: 'ERR_INVALID_DEADLINE' });
    expect(await timers.count()).toBe(0);
  });

  test.each<[unknown, string]>([
    [{ ifAbsent: 1 }, 'The ifAbsent must be true or false, got 1'],
    [{ keep: 'first' }, "The keep must be 'earlier' or 'later', got 'first'"],
    [{ ifAbsent: true, keep: 'later' }, "The keep must not be given with ifAbsent, got 'later'"],
  ])('options of a call: %o', async (options, message) => {
    await expect(timers.schedule('a', 'k', 1e15, 0, options as ScheduleOptions)).rejects.toThrow(message);
    expect(await timers.count()).toBe(0);
  });

  test('persistAfter of a call', async () => {
    const call = timers.schedule('a', 'k', 1, 0, { persistAfter: -1 });
    await expect(call).rejects.toThrow('The persistAfter must be a number of ms from 0 to 3600000, got -1');
  });
});

test('JSON payloads: what JSON keeps, and an error for what it cannot', async () => {
  const timers = await openDurableTimers({ store: memoryStore(), payloadFormat: 'json' });
  const circle: unknown[] = [];
  circle.push(circle);
  await timers.schedule('a', 'k', Date.now() + 1e6, { list: [1, 'ü'], date: new Date(0) });
  expect(await timers.get('a', 'k')).toMatchObject({ payload: { list: [1, 'ü'], date: '1970-01-01T00:00:00.000Z' } });
  for (const payload of [circle, 5n, () => undefined]) {
    await expect(timers.schedule('a', 'k', 1, payload)).rejects.toMatchObject({ code: 'ERR_PAYLOAD_NOT_CLONEABLE' });
  }
  await timers.close();
});

test.each([0, 60_000])(
  'a scheduler without room: timers are stored, and delivered all the same; persistAfter %i',
  async (persistAfter) => {
    const scheduler = createScheduler({ shards: 0, capacity: 8 });
    const timers = await openDurableTimers({ store: memoryStore(), scheduler, persistAfter });
    const seen = new Set<string>();
    timers.handle('a', (_, { key }) => seen.add(key));
    const keys = Array.from({ length: 40 }, (_, at) => `${at}`);
    const deadline = Date.now() + 100;
    await Promise.all(keys.map((key) => timers.schedule('a', key, deadline)));
    await expect.poll(() => seen.size, { timeout: 5000 }).toBe(40);
    await timers.close();
    await scheduler.close();
  },
);

test('a scheduler of the caller is used, and stays open', async () => {
  const scheduler = createScheduler({ shards: 0 });
  const timers = await openDurableTimers({ store: memoryStore(), scheduler, persistAfter: 1000 });
  timers.handle('a', () => undefined);
  await pause(50);
  const { size } = scheduler;
  await timers.schedule('a', 'k', Date.now() + 1e6);
  expect(scheduler.size).toBe(size + 1);
  await timers.close();
  expect(scheduler.size).toBe(0);
  await scheduler.close();
});

test.each(['structured-clone', 'json'] as const)(
  'a payload that looks back has an error of its own: %s',
  async (payloadFormat) => {
    const timers = await openDurableTimers({ store: memoryStore(), payloadFormat });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const trap = () => {
      throw new Error('of a trap');
    };
    for (const payload of [proxy, new Proxy({}, { getPrototypeOf: trap, ownKeys: trap, get: trap })]) {
      await expect(timers.schedule('a', 'k', 1, payload)).rejects.toMatchObject({ code: 'ERR_PAYLOAD_NOT_CLONEABLE' });
    }
    expect(await timers.count()).toBe(0);
    await timers.close();
  },
);
