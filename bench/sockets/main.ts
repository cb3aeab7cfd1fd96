// What limits of connections cost, beside Node's own timers: `node --expose-gc dist/bench/sockets/main.js`. Bytes per
// watched pair of sockets that are open and silent, and CPU per short connection of a proxy, whose clients and upstream
// are another process. In each round every variant has its turn, another one first each time; the ratio is the median
// of the rounds' ratios, so that what else runs on the machine weighs on all alike.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createScheduler } from 'shardwheel';
import { socketTimeouts } from 'shardwheel/net';

const PAIRS = 3_000;
const ROUNDS = 61;
const CONNECTIONS = 400;
const PARALLEL = 16;
const LIMITS = { connect: 5_000, firstByte: 10_000, idle: 60_000, halfClose: 10_000, lifetime: 3_600_000 };

type Watch = (client: Socket, upstream: Socket) => void;

const cut = (...sockets: Socket[]) => {
  for (const socket of sockets) socket.destroy();
};

/** All five limits, as one writes them with `setTimeout`. */
const byHand: Watch = (client, upstream) => {
  const end = () => cut(client, upstream);
  const timers: NodeJS.Timeout[] = [];
  const start = (delay: number) => {
    const timer = setTimeout(end, delay);
    timers.push(timer);
    return timer;
  };
  start(LIMITS.lifetime);
  if (upstream.connecting) {
    const connecting = start(LIMITS.connect);
    upstream.once('connect', () => clearTimeout(connecting));
  }
  const firstByte = start(LIMITS.firstByte);
  client.once('data', () => clearTimeout(firstByte));
  const idle = start(LIMITS.idle);
  let isHalfClosed = false;
  let open = 2;
  for (const socket of [client, upstream]) {
    socket.on('data', () => idle.refresh());
    socket.on('drain', () => idle.refresh());
    socket.once('end', () => {
      if (!isHalfClosed) start(LIMITS.halfClose);
      isHalfClosed = true;
    });
    socket.once('close', () => {
      open -= 1;
      if (open === 0) for (const timer of timers) clearTimeout(timer);
    });
  }
};

/** Idle alone, of each socket by itself. */
const ofNode: Watch = (client, upstream) => {
  for (const socket of [client, upstream]) socket.setTimeout(LIMITS.idle, () => cut(client, upstream));
};

const scheduler = createScheduler({ shards: 0 });
const timeouts = socketTimeouts(scheduler, LIMITS);

/** What the ratios are to. */
const BASE = 'socket.setTimeout, idle alone';

const variants: Readonly<Record<string, Watch>> = {
  'no limits': () => undefined,
  [BASE]: ofNode,
  'setTimeout, five limits by hand': byHand,
  'shardwheel/net, five limits': (client, upstream) => timeouts.watch(client, upstream),
};

const [, , role] = process.argv;
if (role === 'load') await serveLoad();
else await measure();

async function listen(server: Server): Promise<number> {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The other process: an upstream that echoes, and clients on demand. */
async function serveLoad(): Promise<void> {
  const upstream = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => undefined).pipe(socket));
  process.send?.(await listen(upstream));
  process.on('message', async ({ port, count }: { port: number; count: number }) => {
    let started = 0;
    const one = async () => {
      while (started < count) {
        started += 1;
        const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
        socket.end('hello').resume();
        await once(socket, 'close');
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, one));
    process.send?.('done');
  });
  process.on('disconnect', () => process.exit());
}

async function bytesPerPair(watch: Watch, upstreamPort: number): Promise<number> {
  const pairs: [Socket, Socket][] = [];
  for (let at = 0; at < PAIRS; at++) {
    const pair = [0, 1].map(() => connect({ port: upstreamPort, host: '127.0.0.1' }));
    await Promise.all(pair.map((socket) => once(socket, 'connect')));
    pairs.push(pair as [Socket, Socket]);
  }
  const bytes = () => {
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = bytes();
  for (const pair of pairs) watch(...pair);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const used = bytes() - before;
  const closed = pairs.flat().map((socket) => once(socket, 'close'));
  for (const pair of pairs) cut(...pair);
  await Promise.all(closed);
  return used / PAIRS;
}

async function cpuPerConnection(watch: Watch, upstreamPort: number, load: ChildProcess): Promise<number> {
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: upstreamPort, host: '127.0.0.1', allowHalfOpen: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      from.on('error', () => to.destroy()).pipe(to);
    watch(client, upstream);
  });
  const port = await listen(proxy);
  const before = process.cpuUsage();
  load.send({ port, count: CONNECTIONS });
  await once(load, 'message');
  const { user, system } = process.cpuUsage(before);
  proxy.close();
  return (user + system) / CONNECTIONS;
}

/** Of an odd number of figures. */
function medianOf(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

async function measure(): Promise<void> {
  const load = fork(fileURLToPath(import.meta.url), ['load']);
  const [upstreamPort] = await once(load, 'message');
  const names = Object.keys(variants);
  const rounds: Record<string, number>[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const used: Record<string, number> = {};
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length] as string;
      used[name] = await cpuPerConnection(variants[name] as Watch, upstreamPort, load);
    }
    if (round > 0) rounds.push(used); // the first warms up
  }
  console.log(`Node ${process.versions.node}, ${ROUNDS} rounds of ${CONNECTIONS} connections, ${PAIRS} pairs`);
  for (const name of names) {
    const cpu = rounds.map((used) => used[name] as number);
    const ratio = medianOf(rounds.map((used) => (used[name] as number) / (used[BASE] as number)));
    const [least, most] = [Math.min(...cpu), Math.max(...cpu)].map(Math.round);
    const bytes = Math.round(await bytesPerPair(variants[name] as Watch, upstreamPort));
    const median = Math.round(medianOf(cpu));
    console.log(
      `${name}: ${bytes} bytes per pair; CPU per connection ${median} µs (${least}–${most}), ${ratio.toFixed(3)}×`,
    );
  }
  load.disconnect();
  await scheduler.close();
}
