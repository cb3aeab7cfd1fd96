import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { bullmqStore, type DurableOptions, type DurableTimers, openDurableTimers } from 'shardwheel/durable';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasRedis, RedisServer } from '../../bench/suites/durable/redis-server.ts';
import { runText } from '../fixtures/child-process.ts';
import { note, pause, type Seen } from './conformance/stores.ts';

async function openOn(
  server: RedisServer,
  options: Partial<DurableOptions> = {},
  timeout = 1000, // in which even a busy machine runs Redis
): Promise<{ timers: DurableTimers; connection: Redis; errors: Error[] }> {
  const connection = connect(server);
  const store = bullmqStore({ connection, queue: 'failures', timeout, stalledAfter: 1000 });
  const timers = await openDurableTimers({ store, ...options });
  onTestFinished(() => timers.close());
  const errors: Error[] = [];
  timers.on('error', (error) => errors.push(error));
  return { timers, connection, errors };
}

async function startServer(...options: string[]): Promise<RedisServer> {
  const server = await RedisServer.start('--databases', '1', ...options);
  onTestFinished(() => server.stop());
  return server;
}

/** All that is opened is closed in the opposite order when the test has ended. */
function connect(server: RedisServer): Redis {
  const connection = server.connect();
  onTestFinished(() => connection.disconnect());
  return connection;
}

const keysOf = (seen: readonly Seen[]): string[] => seen.map(({ key }) => key);

test('a Redis that cannot be reached is an error in time', async () => {
  const connection = new Redis('redis://127.0.0.1:1', { maxRetriesPerRequest: null }).on('error', () => undefined);
  onTestFinished(() => connection.disconnect());
  const store = bullmqStore({ connection, queue: 'failures', timeout: 200 });
  await expect(openDurableTimers({ store })).rejects.toMatchObject({
    code: 'ERR_STORE_UNREACHABLE',
    message: 'The queue failures has not answered in 200 ms',
  });
});

describe.skipIf(!hasRedis)('with a Redis of its own', () => {
  test('one that is full refuses what is new; what was confirmed is delivered', async () => {
    const server = await startServer('--maxmemory-policy', 'noeviction');
    const { timers, connection } = await openOn(server);
    await timers.schedule('a', 'before', Date.now() + 300);
    await connection.config('SET', 'maxmemory', '1mb');
    const refused = timers.schedule('a', 'refused', Date.now() + 300, 'x'.repeat(1000));
    await expect(refused).rejects.toMatchObject({ code: 'ERR_STORE_FULL' });
    await connection.config('SET', 'maxmemory', '0');
    const seen = note(timers);
    await expect.poll(() => keysOf(seen), { timeout: 10_000 }).toContain('before');
  });

  test('one that falls silent: calls reject in time, and timers are delivered when it answers again', async () => {
    const server = await startServer();
    const { timers, connection } = await openOn(server);
    const seen = note(timers);
    await timers.schedule('a', 'before', Date.now() + 200);
    await connect(server).client('PAUSE', 3500, 'ALL'); // for longer than two calls wait
    await expect(timers.schedule('a', 'during', Date.now())).rejects.toMatchObject({ code: 'ERR_STORE_UNREACHABLE' });
    await expect(timers.cancel('a', 'before')).rejects.toMatchObject({ code: 'ERR_STORE_UNREACHABLE' });
    await pause(1500);
    await expect.poll(() => seen, { timeout: 10_000 }).not.toEqual([]);
    await timers.schedule('a', 'after', Date.now());
    await expect.poll(() => keysOf(seen), { timeout: 10_000 }).toContain('after');
    expect(connection.status).toBe('ready');
  });

  test('young timers are stored when it answers again, and delivered once', async () => {
    const server = await startServer();
    const admin = connect(server);
    await admin.ping();
    const { timers, errors } = await openOn(server, { persistAfter: 1000 });
    const seen = note(timers);
    await timers.schedule('a', 'k', Date.now() + 1300);
    await admin.client('PAUSE', 2500, 'ALL'); // before it is to be stored
    await expect.poll(() => errors.length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(errors[0]).toMatchObject({ code: 'ERR_STORE_UNREACHABLE' });
    await expect.poll(() => keysOf(seen), { timeout: 10_000 }).toEqual(['k']);
    await pause(1200);
    expect(keysOf(seen)).toEqual(['k']);
    await expect.poll(() => timers.count(), { timeout: 10_000 }).toBe(0); // a busy machine may answer late
  });

  test('one that is killed under load, and writes each command to its disk, loses nothing that was confirmed', async () => {
    const server = await startServer('--appendonly', 'yes', '--appendfsync', 'always');
    const { timers } = await openOn(server);
    const seen = note(timers);
    const confirmed: string[] = [];
    const cancelled: string[] = [];
    let isEnding = false;
    const user = async (name: string): Promise<void> => {
      for (let count = 0; !isEnding; count++) {
        const key = `${name}-${count}`;
        try {
          await timers.schedule('a', key, Date.now() + 300);
          if (count % 3 !== 0) confirmed.push(key);
          else if (await timers.cancel('a', key)) cancelled.push(key);
        } catch {
          await pause(20); // neither confirmed nor cancelled
        }
        await pause(2);
      }
    };
    const users = Array.from({ length: 8 }, (_, at) => user(`${at}`));
    for (let crash = 0; crash < 4; crash++) {
      await pause(400);
      await server.crash();
    }
    // However slow the machine, some have to be judged.
    await expect.poll(() => Math.min(confirmed.length, cancelled.length), { timeout: 30_000 }).toBeGreaterThan(50);
    isEnding = true;
    await Promise.all(users);
    const delivered = () => new Set(keysOf(seen));
    await expect.poll(() => confirmed.filter((key) => !delivered().has(key)), { timeout: 30_000 }).toEqual([]);
    expect(cancelled.filter((key) => delivered().has(key))).toEqual([]);
    expect(seen.some(({ early }) => early)).toBe(false);
  }, 120_000);

  test.each(['killed', 'stopped'])(
    'one that is %s: close says what is unknown in time, and the process ends',
    async (how) => {
      const server = await startServer();
      const program = fileURLToPath(new URL('./programs/closing.mjs', import.meta.url));
      const child = spawn(process.execPath, [program, server.url], { stdio: ['pipe', 'pipe', 'inherit'] });
      const said: string[] = [];
      child.stdout.on('data', (text) => said.push(`${text}`));
      await once(child.stdout, 'data');
      if (how === 'killed') await server.kill();
      else server.pause(true);
      child.stdin.write('gone');
      const [code] = await once(child, 'exit');
      if (how === 'stopped') server.pause(false);
      expect(code).toBe(0);
      const { ms, ...rest } = JSON.parse(said.slice(1).join(''));
      expect(rest).toMatchObject({
        code: 'ERR_STORE_UNREACHABLE',
        message: expect.stringContaining('whether those in memory alone were stored'),
      });
      expect(ms).toBeLessThan(4 * 2000 + 1000);
    },
  );

  test('100,000 calls at once are all done, though the last is answered long after the time for an answer', async () => {
    const server = await startServer();
    const { timers } = await openOn(server, {}, 2000);
    await Promise.all(Array.from({ length: 100_000 }, (_, at) => timers.schedule('a', `${at}`, Date.now() + 1e9)));
    expect(await timers.count()).toBe(100_000);
  });

  test.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])(
    'one that evicts is refused, and nothing is written: %s',
    async (policy) => {
      const server = await startServer('--maxmemory-policy', policy);
      await expect(openOn(server)).rejects.toMatchObject({
        code: 'ERR_STORE_EVICTS',
        message: `Redis may remove timers of the queue failures: its maxmemory-policy is '${policy}'. Set it to 'noeviction'`,
      });
      const admin = connect(server);
      expect(await admin.dbsize()).toBe(0);
      const clients = async () => `${await admin.client('LIST')}`.trim().split('\n').length;
      await expect.poll(clients, { timeout: 5000 }).toBe(2); // the caller's, and this; the store's is closed
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
      const { timers } = await openOn(server);
      await timers.schedule('a', 'k', Date.now() + 1e6);
    },
  );

  test.each([
    ['-config', 'allkeys-lru', 'ERR_STORE_EVICTS'],
    ['-info', 'allkeys-lru', 'ERR_STORE_EVICTS'],
    ['-config', 'noeviction', undefined],
    ['-info', 'noeviction', undefined],
    ['-config -info', 'allkeys-lru', undefined],
  ])('the policy is told by one command or the other: %s, %s', async (denied, policy, code) => {
    const server = await startServer('--maxmemory-policy', policy);
    await connect(server).acl('SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all', ...denied.split(' '));
    const connection = new Redis(server.url, { username: 'limited', password: 'secret', enableReadyCheck: false }).on(
      'error',
      () => undefined,
    );
    onTestFinished(() => connection.disconnect());
    const warned: string[] = [];
    const hear = (warning: Error & { code?: string }) => warned.push(warning.code ?? '');
    process.on('warning', hear);
    onTestFinished(() => void process.off('warning', hear));
    const opening = openDurableTimers({ store: bullmqStore({ connection, queue: 'failures' }) });
    if (code !== undefined) {
      await expect(opening).rejects.toMatchObject({ code });
    } else {
      const timers = await opening;
      onTestFinished(() => timers.close());
      const seen = note(timers);
      await timers.schedule('a', 'k', Date.now() + 100);
      await expect.poll(() => keysOf(seen), { timeout: 10_000 }).toEqual(['k']);
    }
    await pause(20);
    expect(warned.includes('SHARDWHEEL_EVICTION_UNKNOWN')).toBe(denied === '-config -info');
  });

  test('after a close nothing of it holds the process', async () => {
    const server = await startServer();
    const text = `import { setImmediate } from 'node:timers/promises';
      import { once } from 'node:events';
      import { Redis } from 'ioredis';
      import { bullmqStore, openDurableTimers } from './lib/durable.js';
      const connection = new Redis('${server.url}', { maxRetriesPerRequest: null });
      const timers = await openDurableTimers({ store: bullmqStore({ connection, queue: 'closed' }) });
      for (const name of ['a', 'b']) timers.handle(name, () => undefined);
      await timers.schedule('a', 'k', Date.now() + 1e6);
      await timers.close();
      connection.disconnect();
      await once(connection, 'end');
      for (let turn = 0; turn < 10; turn++) await setImmediate();
      console.log(JSON.stringify(process.getActiveResourcesInfo().filter((what) => what !== 'PipeWrap')));`;
    expect(await runText(text)).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
  });

  test('a queue of another version is refused', async () => {
    const server = await startServer();
    await connect(server).set('bull:failures:shardwheel-schema', '99');
    await expect(openOn(server)).rejects.toMatchObject({
      code: 'ERR_STORE_VERSION',
      message: "The timers in the queue failures have schema version '99'; this version of shardwheel reads 2",
    });
  });

  test('a queue whose keys hold something else is refused', async () => {
    const server = await startServer();
    const { timers, connection } = await openOn(server);
    await connection.set('bull:failures:delayed', 'text');
    await expect(timers.schedule('a', 'k', Date.now() + 1e6)).rejects.toMatchObject({ code: 'ERR_STORE_CORRUPT' });
    await connection.del('bull:failures:delayed');
  });
});
