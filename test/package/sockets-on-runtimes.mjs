// A proxy under limits, as a program of Node, Bun or Deno: run by on-runtimes.long.test.ts in a project that has the
// package.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { createScheduler } from 'shardwheel';
import { socketTimeouts } from 'shardwheel/net';

const limits = { connect: 60_000, firstByte: 400, idle: 800, halfClose: 500, lifetime: 4_000 };
const ignore = () => undefined;
const listen = async (listener) => {
  const server = createServer({ allowHalfOpen: true }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

const scheduler = createScheduler({ shards: 0 });
const codes = new Set();
const cuts = [];
const timeouts = socketTimeouts(scheduler, { ...limits, onTimeout: (kind) => cuts.push(kind) });
const upstream = await listen((socket) => socket.on('error', ignore).on('data', (data) => socket.write(data)));
const proxy = await listen((client) => {
  const behind = connect({ port: upstream.address().port, host: '127.0.0.1', allowHalfOpen: true });
  for (const [from, to] of [
    [client, behind],
    [behind, client],
  ]) {
    from.on('error', ({ code }) => codes.add(code)).pipe(to);
  }
  timeouts.watch(client, behind);
});
const open = async () => {
  const socket = connect({ port: proxy.address().port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', ignore).resume();
  await once(socket, 'connect');
  return socket;
};

/** What cuts a client that does this, and whether its time was over. */
async function cutOf(play) {
  const before = cuts.length;
  const from = performance.now();
  const socket = await open();
  const talking = play(socket);
  while (cuts.length === before) await new Promise((resolve) => setTimeout(resolve, 5));
  const after = performance.now() - from;
  clearInterval(talking);
  socket.destroy();
  const kind = cuts.at(-1);
  return `${kind} ${after > limits[kind] - 2 ? 'in time' : after}`;
}

const told = [
  await cutOf(ignore),
  await cutOf((socket) => void socket.write('once')),
  await cutOf((socket) => setInterval(() => socket.write('on and on'), 50)),
  await cutOf((socket) => void socket.end('and a FIN')),
];
const last = await open();
last.write('under way');
await once(last, 'data');
const drained = await timeouts.drain(30_000, proxy);
last.destroy();
upstream.close();
process.stdout.write(`${JSON.stringify({ told, codes: [...codes], drained, left: scheduler.size })}\n`);
await scheduler.close();
