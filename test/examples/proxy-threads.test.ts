import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createScheduler, type Scheduler } from 'shardwheel';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Acceptor, askForPort } from '../../dist/bench/proxy/acceptor.js';
import { ConnectionJournal } from '../../dist/bench/proxy/connection-journal.js';
import { EventLoops } from '../../dist/bench/proxy/event-loops.js';
import { canSharePorts } from '../../dist/bench/proxy/port-sharing.js';

// No test here waits for a timeout.
const timeouts = { connect: 20_000, request: 20_000, idle: 30_000, drain: 20_000 };
const capacity = 40;
const sharesPorts = await canSharePorts();

describe('threads that serve connections', () => {
  let echo: Server;
  let scheduler: Scheduler;
  const clients: Socket[] = [];

  beforeEach(async () => {
    scheduler = createScheduler({ shards: 1 });
    echo = createServer((socket) => void socket.on('error', () => {}).pipe(socket));
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    echo.close();
    await scheduler.close();
  });

  const newLoops = (sharesPort: boolean): EventLoops => {
    const { port } = echo.address() as AddressInfo;
    const upstreamPorts = { upstream: port, blackhole: port };
    return new EventLoops({ handle: scheduler.share(), upstreamPorts, timeouts }, capacity, sharesPort);
  };

  const open = async ({ ports, asksForPort }: EventLoops): Promise<Socket> => {
    const port = asksForPort ? await askForPort(ports.upstream) : ports.upstream;
    const client = connect({ port, host: '127.0.0.1' });
    client.on('error', () => {});
    clients.push(client);
    await says(client, 'hello');
    return client;
  };

  const ways: [string, boolean][] = [['on ports that an acceptor hands out', false]];
  if (sharesPorts) ways.push(['on one port', true]);

  test.each(ways)('%s: one that is killed takes its connections with it, and no others', async (_, sharesPort) => {
    await using loops = newLoops(sharesPort);
    await loops.start(2);
    const before = await Promise.all(Array.from({ length: 24 }, () => open(loops)));
    const ended = new Set<Socket>();
    for (const client of before) client.once('close', () => ended.add(client));
    expect(loops.counts()).toEqual({ accepted: 24, ended: 0, cut: 0 });

    await loops.killOne();
    expect(loops.kills).toHaveLength(1);
    const lost = [...loops.records.upstream];
    expect(lost.length).toBeGreaterThan(0);
    expect(new Set(lost.map(({ outcome }) => outcome))).toEqual(new Set(['lost']));
    await vi.waitFor(() => expect(ended.size).toBe(lost.length), { timeout: 5_000, interval: 5 });

    const left = before.filter((client) => !ended.has(client));
    const after = await Promise.all(Array.from({ length: 8 }, () => open(loops)));
    await Promise.all(left.map((client) => says(client, 'still here')));
    expect(loops.counts()).toEqual({ accepted: 32, ended: lost.length, cut: 0 });

    for (const client of [...left, ...after]) client.end();
    const counts = await loops.stop();
    expect(counts.map(({ size }) => size)).toEqual([0, 0]);
    const outcomes = loops.records.upstream.map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'served')).toHaveLength(32 - lost.length);
  });

  test('one that ends by itself fails the run', async () => {
    await using loops = newLoops(sharesPorts);
    await loops.start(2);
    const full = Promise.all(Array.from({ length: 2 * capacity + 1 }, () => open(loops).catch(() => {})));
    await expect(loops.failed).rejects.toThrow(RangeError);
    for (const client of clients) client.destroy();
    await full;
  });
});

/** Resolves when the echo of it is back; rejects if the connection is closed before. */
async function says(client: Socket, text: string): Promise<void> {
  client.write(text);
  let got = '';
  await new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      got += chunk.toString();
      if (got.length < text.length) return;
      client.off('data', onData).off('close', reject);
      resolve();
    };
    client.on('data', onData).once('close', reject);
  });
  expect(got).toBe(text);
}

test('an acceptor answers whoever asks', async () => {
  let turn = 40_000;
  const acceptor = await Acceptor.listen(() => turn++);
  expect([await askForPort(acceptor.port), await askForPort(acceptor.port)]).toEqual([40_000, 40_001]);
  await acceptor.close();
});

test('a journal tells another thread what its connections have come to, in the order in which they were accepted', () => {
  const written = ConnectionJournal.allocate(3);
  const starts = [
    { number: 1, clientPort: 65_535, acceptedAt: 1.8e12 },
    { number: 2, clientPort: undefined, acceptedAt: 1.8e12 + 1 },
    { number: 3, clientPort: 1, acceptedAt: 1.8e12 + 2 },
  ] as const;
  for (const start of starts) written.noteAccepted(start);
  written.noteEnded({ ...starts[2], outcome: 'drain', error: undefined });
  written.noteEnded({ ...starts[1], outcome: 'served', error: undefined });
  const read = new ConnectionJournal(written.memory);
  expect(read.counts()).toEqual({ accepted: 3, ended: 2, cut: 1 });
  expect(read.records()).toEqual([
    { clientPort: 65_535, acceptedAt: 1.8e12, outcome: 'open' },
    { clientPort: undefined, acceptedAt: 1.8e12 + 1, outcome: 'served' },
    { clientPort: 1, acceptedAt: 1.8e12 + 2, outcome: 'drain' },
  ]);
  expect(() => written.noteAccepted({ number: 4, clientPort: 2, acceptedAt: 1.8e12 })).toThrow(RangeError);
});
