// A TCP proxy on loopback whose limits are those of `shardwheel/net`, before a server that answers one request and then
// hangs. In the repository of shardwheel: `npm run build && node dist/examples/tcp-proxy/main.js`; under load, on
// several event loops, with threads that are killed: `node dist/bench/proxy/main.js --help`.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createScheduler } from 'shardwheel';
import { type ConnectionEnd, TcpProxy } from './proxy.ts';

await using scheduler = createScheduler({ shards: 1 });

const server = createServer((socket) => {
  socket.on('error', () => undefined); // the proxy has cut it
  socket.on('data', (request) => {
    if (String(request) === 'quick') socket.write('answer');
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

const ends: Record<string, (end: ConnectionEnd) => void> = {};
const proxy = await TcpProxy.listen({
  scheduler,
  upstreamPort: (server.address() as AddressInfo).port,
  timeouts: { connect: 500, firstByte: 150, idle: 300, halfClose: 100, lifetime: 60_000, drain: 400 },
  onEnd: (end) => ends[`${end.clientPort}`]?.(end),
});

/** Sends one request, shows what comes back, and how the proxy has ended the connection. */
async function ask(request: string): Promise<void> {
  const socket = connect({ port: proxy.port, host: '127.0.0.1' });
  socket.on('error', () => undefined); // a cut is a reset
  await once(socket, 'connect');
  const ended = new Promise<ConnectionEnd>((resolve) => {
    ends[`${socket.localPort}`] = resolve;
  });
  let answer = 'nothing';
  socket.on('data', (data) => {
    answer = String(data);
  });
  if (request !== '') socket.write(request);
  const { outcome } = await ended;
  console.log(`${request || 'no word'}: ${answer}, then cut by its ${outcome} timeout`);
}

await ask('quick');
await ask('slow');
await ask('');

const open = connect({ port: proxy.port, host: '127.0.0.1' }).on('error', () => undefined);
await once(open, 'connect');
while (proxy.live === 0) await new Promise(setImmediate);
await proxy.close(); // ends what is idle, and cuts the rest at the drain timeout
console.log('drained, timers left:', scheduler.size);
open.destroy();
server.close();
