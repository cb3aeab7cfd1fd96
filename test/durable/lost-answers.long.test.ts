import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { bullmqStore, openDurableTimers } from 'shardwheel/durable';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hasRedis, RedisServer } from '../../bench/suites/durable/redis-server.ts';
import { pause, soon } from './conformance/stores.ts';

/**
 * A way to a Redis that is cut once: when the answer to a command which contains `text` is on its way back, or the
 * answer of that number, from 1.
 */
class CutWire {
  text: string | undefined;
  at: number | undefined;
  answers = 0;
  cuts = 0;
  readonly url: string;

  readonly close: () => void;

  private constructor(url: string, close: () => void) {
    this.url = url;
    this.close = close;
  }

  static async to(url: string): Promise<CutWire> {
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(Number(new URL(url).port), '127.0.0.1');
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.setNoDelay(true).on('error', () => undefined);
        socket.on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      let isCut = false;
      client.on('data', (command) => {
        isCut = wire.text !== undefined && command.includes(wire.text);
        upstream.write(command);
      });
      upstream.on('data', (answer) => {
        wire.answers += 1;
        if (!isCut && wire.answers !== wire.at) client.write(answer);
        else {
          wire.text = undefined;
          wire.cuts += 1;
          client.destroy();
        }
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = (): void => {
      for (const socket of sockets) socket.destroy();
      server.close();
    };
    const wire = new CutWire(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`, close);
    return wire;
  }
}

// ioredis sends again what has not been answered when a connection is lost; Redis may have done it before.
describe.skipIf(!hasRedis)('a call whose answer is lost is done once', () => {
  let redis: RedisServer;
  const ends: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    redis = await RedisServer.start('--databases', '1');
  });

  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()));
    await redis.stop();
  });

  async function open(attempts: number, queue = 'lost') {
    const wire = await CutWire.to(redis.url);
    const connection = new Redis(wire.url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
    connection.on('error', () => undefined);
    const timers = await openDurableTimers({
      store: bullmqStore({ connection, queue, stalledAfter: 5000 }),
      retry: { attempts, delay: 10 },
    });
    const errors: (Error & { code?: string })[] = [];
    timers.on('error', (error) => errors.push(error));
    const end = async (): Promise<void> => {
      await timers.close();
      connection.disconnect();
      wire.close();
    };
    ends.push(end);
    return { timers, wire, errors, end };
  }

  /** What a call that must have changed something has answered: true, or that it is not known. */
  async function outcome(call: Promise<boolean>): Promise<boolean | string> {
    return call.catch((error) => error.code);
  }

  /**
   * Calls of every kind, and handlers of every outcome, with a wire that is cut at an answer. Returns how many answers
   * there were.
   */
  async function world(cutAt: number | undefined): Promise<number> {
    const { timers, wire, errors, end } = await open(2, `cut-${cutAt}`);
    const what = `cut at answer ${cutAt}`;
    wire.answers = 0;
    wire.at = cutAt;
    const ended: [event: string, attempt: number][] = [];
    const done = new Set<string>();
    timers.on('failed', ({ attempt }) => ended.push(['failed', attempt]));
    timers.on('dead', ({ attempts }) => ended.push(['dead', attempts]));
    timers.handle('fails', () => Promise.reject(new Error('as the test wants it')));
    timers.handle('done', (_, { key }) => void done.add(key));
    const far = Date.now() + 1_000_000;
    const trueOrUnknown = async (name: string, call: Promise<boolean>): Promise<void> => {
      expect([true, 'ERR_STORE_UNREACHABLE'], `${name}, ${what}`).toContain(await outcome(call));
    };
    await trueOrUnknown('schedule', timers.schedule('done', 'at once', Date.now()));
    await trueOrUnknown('ifAbsent', timers.schedule('a', 'k', far, undefined, { ifAbsent: true }));
    await trueOrUnknown('keep', timers.schedule('a', 'k', far - 1, undefined, { keep: 'earlier' }));
    await trueOrUnknown('reschedule', timers.reschedule('a', 'k', far + 1));
    await trueOrUnknown('cancel', timers.cancel('a', 'k'));
    await timers.schedule('fails', 'k', Date.now());
    await expect.poll(() => ended.length, { timeout: 20_000, message: what }).toBe(3);
    await expect.poll(() => done.size, { timeout: 20_000, message: what }).toBe(1);
    await trueOrUnknown('removeDeadLetter', timers.removeDeadLetter('fails', 'k'));
    await expect.poll(() => outcome(timers.cancel('a', 'k')), { message: what }).toBe(false);
    await pause(50);
    expect(ended.sort(), what).toEqual([
      ['dead', 2],
      ['failed', 1],
      ['failed', 2],
    ]);
    expect(
      errors.filter(({ code }) => code !== 'ERR_STORE_UNREACHABLE'),
      what,
    ).toEqual([]);
    await end();
    return wire.answers;
  }

  test('whichever answer it is', async () => {
    const answers = await world(undefined);
    expect(answers).toBeGreaterThan(20);
    const cuts = Array.from({ length: answers }, (_, at) => at + 1);
    const next = async (): Promise<void> => {
      for (let cut = cuts.shift(); cut !== undefined; cut = cuts.shift()) await world(cut);
    };
    await Promise.all([next(), next(), next(), next()]);
  }, 300_000);

  test('a claim counts one attempt, and the last one is made', async () => {
    const { timers, wire } = await open(1);
    const seen: number[] = [];
    const dead: unknown[] = [];
    timers.on('dead', (letter) => dead.push(letter));
    wire.text = 'swClaim';
    timers.handle('a', (_, { attempt }) => {
      seen.push(attempt);
    });
    await timers.schedule('a', 'k', soon(100));
    await expect.poll(() => seen.length + dead.length, { timeout: 10_000 }).toBe(1);
    await pause(200);
    expect([wire.cuts, seen, dead]).toEqual([1, [1], []]);
  });

  test('a cancel is true, or says that it is not known', async () => {
    const { timers, wire } = await open(3);
    await timers.schedule('a', 'k', soon(1_000_000));
    wire.text = 'LPOS';
    const answer = await timers.cancel('a', 'k').catch((error) => error);
    expect(wire.cuts).toBe(1);
    if (answer !== true) expect(answer).toMatchObject({ code: 'ERR_STORE_UNREACHABLE' });
    expect(await timers.count()).toBe(0);
    expect(await timers.cancel('a', 'k')).toBe(false);
  });
});
