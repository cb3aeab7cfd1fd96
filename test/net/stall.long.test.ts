import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createScheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';
import { pass, until } from '../fixtures/event-loop.ts';

const server = new URL('./watched-server.mjs', import.meta.url).href;
const TALKING = 20;
const SILENT = 3;

const nobody: { cut: number; strangers: unknown[]; ends: boolean[] } = {
  cut: 3 * SILENT,
  strangers: [],
  ends: Array(TALKING).fill(false),
};

/**
 * Guarantee 16: cuts after stalls of 700 ms with an idle limit of 400, beside clients that talk all the time, and some
 * that do not.
 */
async function stallsOf(client: ClientThread, way: 'block' | 'spin'): Promise<typeof nobody> {
  const port = await client.run(
    ({ scheduler, load }, url) => load(url).then((it) => it.listen(scheduler, { idle: 400 })),
    server,
  );
  const open = async () => {
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  const talking = await Promise.all(Array.from({ length: TALKING }, open));
  let talkedAt = Date.now();
  let longestPause = 0;
  const talk = setInterval(() => {
    longestPause = Math.max(longestPause, Date.now() - talkedAt);
    talkedAt = Date.now();
    for (const socket of talking) socket.write('k');
  }, 50);
  const silent: Socket[] = [];
  const ports: unknown[] = [];
  const reports = [];
  for (let stall = 0; stall < 3; stall++) {
    const opened = await Promise.all(Array.from({ length: SILENT }, open));
    silent.push(...opened);
    ports.push(...opened.map(({ localPort }) => localPort));
    await client.run(({ load }, url, way) => load(url).then((it) => it[way](700)), server, way);
    await pass(700); // those that are silent have had their time
    reports.push(await client.run(({ load }, url) => load(url).then((it) => it.report()), server));
  }
  clearInterval(talk);
  longestPause = Math.max(longestPause, Date.now() - talkedAt);
  const ends = talking.map((socket) => socket.destroyed || socket.readableEnded);
  for (const socket of [...talking, ...silent]) socket.destroy();
  const report = () => client.run(({ load }, url) => load(url).then((it) => it.report()), server);
  await until(async () => (await report()).open === 0);
  await client.run(({ load }, url) => load(url).then((it) => it.close()), server);
  const cuts = reports.flatMap(({ cuts }) => cuts);
  if (longestPause > 200) return stallsOf(client, way); // this machine is too busy to talk all the time
  return { cut: cuts.length, strangers: cuts.filter(([port]: [number]) => !ports.includes(port)), ends };
}

test.each([
  [0, 'block'],
  [1, 'block'],
  [0, 'spin'],
  [1, 'spin'],
] as const)(
  'a stalled loop cuts nobody whose bytes have arrived, and who is silent: %i shards, %s',
  async (shards, way) => {
    await using client = ClientThread.own({ shards });
    expect(await stallsOf(client, way)).toEqual(nobody);
  },
);

test.each([0, 1])('the same in a client of a shared scheduler: %i shards', async (shards) => {
  await using scheduler = createScheduler({ shards });
  await using client = ClientThread.connect(scheduler.share());
  expect(await stallsOf(client, 'block')).toEqual(nobody);
});
