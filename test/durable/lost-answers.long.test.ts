import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { bullmqStore, openDurableTimers } from 'shardwheel/durable';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasRedis, RedisServer } from '../../bench/suites/durable/redis-server.ts';
import { pause, soon } from './conformance/stores.ts';

/** A way to a Redis that is cut once: when the answer to a command which contains `text` is on its way back. */
class CutWire {
  text: string | undefined;
  cuts = 0;
  readonly url: string;

  private constructor(url: string) {
    this.url = url;
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
        if (!isCut) client.write(answer);
        else {
          wire.text = undefined;
          wire.cuts += 1;
          client.destroy();
        }
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const wire = new CutWire(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return wire;
  }
}

// ioredis sends again what has not been answered when a connection is lost; Redis may have done it before.
describe.skipIf(!hasRedis)('a call whose answer is lost is done once', () => {
  async function open(attempts: number) {
    const redis = await RedisServer.start('--databases', '1');
    onTestFinished(() => redis.stop());
    const wire = await CutWire.to(redis.url);
    const connection = new Redis(wire.url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
    connection.on('error', () => undefined);
    onTestFinished(() => connection.disconnect());
    const timers = await openDurableTimers({
      store: bullmqStore({ connection, queue: 'lost', stalledAfter: 5000 }),
      retry: { attempts, delay: 10 },
    });
    timers.on('error', () => undefined);
    onTestFinished(() => timers.close());
    return { timers, wire };
  }

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
