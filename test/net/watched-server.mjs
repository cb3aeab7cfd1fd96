// A server whose connections are watched, in a thread of a test; its clients are in the test's own. See stall and
// random tests.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { socketTimeouts } from '../../lib/net.js';

const FLOOD = Buffer.alloc(20_000_000);

const delay = monitorEventLoopDelay();

let server;
let timeouts;
/** Of each connection that a limit has ended: its client's port, the kind, and when. */
let cuts = [];
const ports = new WeakMap();
let open = 0;
let watched = 0;

/** What the first byte of a client asks for. */
const orders = {
  k: () => undefined,
  /** Ends when the client has. */
  e: (socket) => socket.once('end', () => socket.end('bye')),
  d: (socket) => socket.destroy(),
  /** Ends first. */
  f: (socket) => socket.end('bye'),
  p: (socket) => socket.pause(),
  /** Writes what nobody will read. */
  w: (socket) => socket.write(FLOOD),
};

export async function listen(scheduler, limits) {
  watched = 0;
  delay.reset();
  delay.enable();
  timeouts = socketTimeouts(scheduler, {
    ...limits,
    onTimeout: (kind, { socket }) => cuts.push([ports.get(socket), kind, Date.now()]),
  });
  server = createServer({ allowHalfOpen: true }, (socket) => {
    ports.set(socket, socket.remotePort);
    open += 1;
    watched += 1;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open -= 1;
    });
    socket.once('data', (chunk) => orders[String.fromCharCode(chunk[0])](socket));
    socket.on('data', () => undefined);
    timeouts.watch(socket);
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 });
  await once(server, 'listening');
  return server.address().port;
}

export const block = (time) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time);

export function spin(time) {
  for (const end = performance.now() + time; performance.now() < end; );
}

/** What has been cut since it was asked last; `stall`: the longest time that the loop stood still, in ms. */
export function report() {
  const told = cuts;
  cuts = [];
  return { cuts: told, open, watched, counts: timeouts.counts, stall: delay.max / 1e6 };
}

export function close() {
  delay.disable();
  server.close();
}
