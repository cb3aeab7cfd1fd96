import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createScheduler } from 'shardwheel';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Blackhole } from '../../dist/bench/proxy/blackhole.js';
import { type ConnectionEnd, TcpProxy } from '../../dist/examples/tcp-proxy/proxy.js';

// Sockets are real, time is not: no test here waits for a timeout.
const timeouts = { connect: 1_000, request: 2_000, idle: 5_000, drain: 3_000 };

const eventually = (assertion: () => void) => vi.waitFor(assertion, { timeout: 5_000, interval: 2 });

class World {
  readonly ends: ConnectionEnd[] = [];
  readonly upstreamSockets: Socket[] = [];
  readonly server = createServer({ allowHalfOpen: true });
  readonly clients: Socket[] = [];
  readonly scheduler;
  proxy!: TcpProxy;

  constructor(capacity?: number) {
    this.scheduler = createScheduler({ shards: 0, clock: 'manual', ...(capacity === undefined ? {} : { capacity }) });
    this.server.on('connection', (socket) => {
      socket.on('error', () => {});
      this.upstreamSockets.push(socket);
    });
  }

  async start(upstreamPort?: number, maxConnections = 100): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.proxy = await TcpProxy.listen({
      scheduler: this.scheduler,
      upstreamPort: upstreamPort ?? (this.server.address() as AddressInfo).port,
      timeouts,
      maxConnections,
      onEnd: (end) => this.ends.push(end),
    });
    return this;
  }

  open(): Socket {
    const client = connect({ port: this.proxy.port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => {});
    this.clients.push(client);
    return client;
  }

  async client(): Promise<Socket> {
    const client = this.open();
    await once(client, 'connect');
    return client;
  }

  /** A client and the upstream's side of the same connection, with the idle timer running. */
  async pair(): Promise<{ client: Socket; upstream: Socket }> {
    const before = this.upstreamSockets.length;
    const client = await this.client();
    await eventually(() => expect(this.upstreamSockets.length).toBe(before + 1));
    const upstream = this.upstreamSockets[before]!;
    upstream.write('hello');
    await received(client, 'hello');
    return { client, upstream };
  }

  get outcomes(): string[] {
    return this.ends.map(({ outcome }) => outcome);
  }

  async stop(): Promise<void> {
    for (const socket of [...this.clients, ...this.upstreamSockets]) socket.destroy();
    await this.proxy?.close();
    this.server.close();
    expect(this.scheduler.size).toBe(0);
    expect(await this.scheduler.close()).toEqual([]);
  }
}

/** Resolves when the socket has received this text next. */
const received = async (socket: Socket, text: string): Promise<void> => {
  let got = '';
  while (got.length < text.length) {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) await once(socket, 'readable');
    else got += chunk.toString();
  }
  expect(got).toBe(text);
};

/** Resolves when the socket is closed, by a reset too. */
const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));

const say = async (from: Socket, to: Socket, text: string): Promise<void> => {
  from.write(text);
  await received(to, text);
};

let world: World;
beforeEach(async () => {
  world = await new World().start();
});
afterEach(() => world.stop());

describe('idle timeout', () => {
  test('cuts once no byte has moved for the whole of it, and not before', async () => {
    const { client, upstream } = await world.pair();
    await world.scheduler.advanceTo(4_000);
    await say(upstream, client, 'a sign of life');
    await world.scheduler.advanceTo(8_999);
    expect(world.proxy.live).toBe(1);
    await world.scheduler.advanceTo(9_001);
    await eventually(() => expect(world.outcomes).toEqual(['idle']));
    await eventually(() => expect([client.destroyed, upstream.destroyed]).toEqual([true, true]));
  });

  test('is moved by bytes of either direction', async () => {
    const { client, upstream } = await world.pair();
    for (let now = 4_000; now <= 40_000; now += 8_000) {
      await world.scheduler.advanceTo(now);
      await say(client, upstream, 'question');
      await say(upstream, client, 'answer');
      await world.scheduler.advanceTo(now + 4_000);
      await say(upstream, client, 'more');
    }
    expect(world.outcomes).toEqual([]);
    expect(world.scheduler.size).toBe(1);
  });
});

describe('request timeout', () => {
  test('cuts where no answer has begun', async () => {
    const { client, upstream } = await world.pair();
    await say(client, upstream, 'question');
    await world.scheduler.advanceTo(1_999);
    expect(world.proxy.live).toBe(1);
    await world.scheduler.advanceTo(2_001);
    await eventually(() => expect(world.outcomes).toEqual(['request']));
  });

  test('counts from the last byte of the request, and ends with the first of the answer', async () => {
    const { client, upstream } = await world.pair();
    await say(client, upstream, 'quest');
    await world.scheduler.advanceTo(1_500);
    await say(client, upstream, 'ion');
    await world.scheduler.advanceTo(3_400);
    await say(upstream, client, 'a');
    await world.scheduler.advanceTo(8_000);
    expect(world.outcomes).toEqual([]);
  });
});

describe('drain timeout', () => {
  test('leaves the other side its time after a FIN, and then ends in peace', async () => {
    const { client, upstream } = await world.pair();
    await say(client, upstream, 'question');
    client.end();
    upstream.resume();
    await once(upstream, 'end');
    await world.scheduler.advanceTo(2_900);
    await say(upstream, client, 'late answer');
    client.resume();
    upstream.end();
    await eventually(() => expect(world.outcomes).toEqual(['served']));
    expect(world.scheduler.size).toBe(0);
  });

  test.each(['client', 'upstream'] as const)(
    'cuts though the side other than the %s goes on talking',
    async (ender) => {
      const { client, upstream } = await world.pair();
      const [first, second] = ender === 'client' ? [client, upstream] : [upstream, client];
      first.end();
      second.resume();
      await once(second, 'end');
      await world.scheduler.advanceTo(2_900);
      await say(second, first, 'on and on');
      await world.scheduler.advanceTo(3_001);
      await eventually(() => expect(world.outcomes).toEqual(['drain']));
    },
  );
});

test('connect timeout: cuts where the handshake with the upstream is not completed', async () => {
  const blackhole = await Blackhole.open();
  const beyond = await new World().start(blackhole.port);
  try {
    await beyond.client();
    await eventually(() => expect(beyond.scheduler.size).toBe(1));
    await beyond.scheduler.advanceTo(999);
    expect(beyond.proxy.live).toBe(1);
    await beyond.scheduler.advanceTo(1_001);
    await eventually(() => expect(beyond.outcomes).toEqual(['connect']));
  } finally {
    await beyond.stop();
    await blackhole.close();
  }
});

test('an upstream that refuses the connection costs that client its connection at once', async () => {
  world.server.close();
  await closed(world.open());
  await eventually(() => expect(world.ends).toMatchObject([{ outcome: 'failed', error: { code: 'ECONNREFUSED' } }]));
});

test('a scheduler without room costs the connection that needs it, and no other', async () => {
  const full = await new World(2).start();
  try {
    const { client, upstream } = await full.pair();
    await say(client, upstream, 'question'); // idle and request timer: full
    await closed(full.open());
    await eventually(() =>
      expect(full.ends).toMatchObject([{ outcome: 'failed', error: { code: 'ERR_CAPACITY_EXCEEDED' } }]),
    );
    await say(upstream, client, 'answer');
  } finally {
    await full.stop();
  }
});

test('connections over the limit are refused', async () => {
  const small = await new World().start(undefined, 1);
  try {
    await small.pair();
    const second = await small.client();
    await once(second.resume(), 'end');
    expect(small.proxy.counters).toMatchObject({ accepted: 1, refused: 1 });
  } finally {
    await small.stop();
  }
});

test('a sender waits for a reader that does not read, and every byte arrives', async () => {
  const megabyte = Buffer.alloc(2 ** 20, 'x');
  const { client, upstream } = await world.pair();
  for (let i = 0; i < 64; i++) upstream.write(megabyte);
  let before = -1;
  while (before !== upstream.writableLength) {
    before = upstream.writableLength;
    await sleep(150); // until the kernel's buffers and the proxy's are full
  }
  expect(upstream.writableLength).toBeGreaterThan(16 * 2 ** 20);
  let bytes = 0;
  client.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await eventually(() => expect(bytes).toBe(64 * 2 ** 20));
});

test('close lets a connection finish within the drain timeout, cuts the rest, and leaves no timer', async () => {
  const finishing = await world.pair();
  const staying = await world.pair();
  await say(finishing.client, finishing.upstream, 'question');
  const proxyClosed = world.proxy.close();
  await world.scheduler.advanceTo(2_900);
  await say(finishing.upstream, finishing.client, 'answer');
  finishing.client.resume().end();
  finishing.upstream.resume().end();
  await eventually(() => expect(world.outcomes).toEqual(['served']));
  await world.scheduler.advanceTo(3_001);
  await proxyClosed;
  expect(world.outcomes).toEqual(['served', 'drain']);
  await eventually(() => expect(staying.client.destroyed).toBe(true));
  await expect(world.client()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
