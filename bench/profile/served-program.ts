// Entry of a server that is profiled under load: `argv[2]` names it. Writes its port, and at SIGTERM what its own code has done to
// its timers.
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server } from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import Fastify from 'fastify';
import { Pool } from 'undici';

/** ms until it ends by itself. */
const LIFE = 300_000;
/** ms. No part of Node and no library sets timers of this delay, so the profile's row of it is the server's own. */
const DELAY = 7_321;

/** What the server's own code has counted. */
const ledger = { created: 0, cleared: 0, refreshed: 0, fired: 0 };

const set = (callback: () => void): NodeJS.Timeout => {
  ledger.created += 1;
  return setTimeout(() => {
    ledger.fired += 1;
    callback();
  }, DELAY);
};

const clear = (timer: NodeJS.Timeout): void => {
  ledger.cleared += 1;
  clearTimeout(timer);
};

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });

async function plainFastify(): Promise<number> {
  const server = Fastify();
  server.get('/', async () => ({ answer: 42 }));
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}

/** Each request goes to an upstream in a worker, with a deadline for both. */
async function gateway(): Promise<number> {
  const worker = new Worker(new URL(import.meta.url), { argv: ['upstream'] });
  const upstream = await new Promise<number>((resolve) => worker.once('message', resolve));
  worker.unref();
  const pool = new Pool(`http://127.0.0.1:${upstream}`, { connections: 50 });
  const server = Fastify();
  server.get('/', async () => {
    const controller = new AbortController();
    const deadline = set(() => controller.abort());
    try {
      const { body } = await pool.request({ method: 'GET', path: '/', signal: controller.signal });
      return await body.json();
    } finally {
      clear(deadline);
    }
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}

/** A server of node:http that sets 20 deadlines for each request, and clears them when it has answered: many for any server. */
function deadlines(): Promise<number> {
  const server = createHttpServer((_request, response) => {
    const timers = Array.from({ length: 20 }, () => set(() => response.destroy()));
    response.end('{"answer":42}', () => timers.forEach(clear));
  });
  return listening(server);
}

/** Gives back what comes, on connections that are closed when nothing has come for a while. */
function echo(): Promise<number> {
  const server = createNetServer({ noDelay: true }, (socket) => {
    const idle = set(() => socket.destroy());
    socket.on('data', (chunk) => {
      idle.refresh();
      ledger.refreshed += 1;
      socket.write(chunk);
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => clear(idle));
  });
  return listening(server);
}

const servers: Record<string, () => Promise<number>> = { fastify: plainFastify, gateway, deadlines, echo };

if (isMainThread) {
  const port = await servers[process.argv[2]]();
  process.once('SIGTERM', () => {
    process.stdout.write(`${JSON.stringify(ledger)}\n`, () => process.exit(0));
  });
  process.stdout.write(`${port}\n`);
  setTimeout(() => process.exit(1), LIFE).unref();
} else {
  parentPort?.postMessage(await plainFastify());
}
