// The proxy on two event loops with one scheduler; in the repository of shardwheel:
// `node dist/examples/tcp-proxy/several-loops.js`. The threads listen on one port where Node can share it (22.12, 23.1
// and later); before, an acceptor tells each client the port of a thread in turn.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { createScheduler } from 'shardwheel';
import { Acceptor, askForPort } from './acceptor.ts';
import { canSharePorts } from './port-sharing.ts';
import type { ProxyTimeouts } from './proxy.ts';

const LOOPS = 2;
const CONNECTIONS = 40;

const scheduler = createScheduler({ shards: 1 });
const upstream = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
upstream.listen(0, '127.0.0.1');
await once(upstream, 'listening');
const upstreamPort = (upstream.address() as AddressInfo).port;

const reusePort = await canSharePorts();
const timeouts: ProxyTimeouts = {
  connect: 5_000,
  firstByte: 5_000,
  idle: 10_000,
  halfClose: 5_000,
  lifetime: 60_000,
  drain: 500,
};
const threadFile = new URL(import.meta.url.replace('several-loops', 'proxy-thread')); // compiled or not
const handle = scheduler.share();
const loops: Worker[] = [];
const ports: number[] = [];
for (let at = 0; at < LOOPS; at++) {
  const workerData = { handle, upstreamPort, timeouts, reusePort, port: reusePort ? (ports[0] ?? 0) : 0 };
  const loop = new Worker(threadFile, { workerData });
  const [port] = await once(loop, 'message');
  loops.push(loop);
  ports.push(port);
}
let turn = 0;
const acceptor = reusePort ? undefined : await Acceptor.listen(() => ports[turn++ % LOOPS] as number);

let answered = 0;
for (let at = 0; at < CONNECTIONS; at++) {
  const port = acceptor === undefined ? (ports[0] as number) : await askForPort(acceptor.port);
  const socket = connect({ port, host: '127.0.0.1' });
  socket.end('hello');
  let answer = '';
  for await (const chunk of socket.setEncoding('utf8')) answer += chunk;
  if (answer === 'hello') answered += 1;
}
console.log(`answered: ${answered} of ${CONNECTIONS}`);

const accepted = await Promise.all(
  loops.map(async (loop) => {
    const exited = once(loop, 'exit'); // listens before the answer comes: both can come at once
    loop.postMessage('drain');
    const [count] = await once(loop, 'message');
    await exited;
    return count as number;
  }),
);
console.log(`loops that served: ${accepted.filter((count) => count > 0).length} of ${LOOPS}`);
await acceptor?.close();
upstream.close();
console.log('timers left:', (await scheduler.close()).length);
