import { once } from 'node:events';
import {
  Agent,
  createServer,
  get,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, get as getSecure, Agent as SecureAgent } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Scheduler } from 'shardwheel';
import { type SocketTimeouts, socketTimeouts } from 'shardwheel/net';
import { describe, expect, test } from 'vitest';
import { pass, turn, until } from '../fixtures/event-loop.ts';
import { cert, key } from './certificate.mjs';
import { eachWithSockets } from './each-with-sockets.ts';
import type { Sockets } from './sockets.mjs';

const MINUTE = 60_000;
/** Of an answer that no system takes at once. */
const BIG = 30_000_000;

let scheduler: Scheduler;
let sockets: Sockets;

eachWithSockets((own) => {
  ({ scheduler, sockets } = own);
});

const bodyOf = async (answer: IncomingMessage): Promise<string> => {
  let body = '';
  for await (const chunk of answer.setEncoding('utf8')) body += chunk;
  return body;
};

const answerTo = (asked: ReturnType<typeof get>): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => asked.on('response', resolve).on('error', reject));

async function watchedServer(timeouts: SocketTimeouts, listener: RequestListener) {
  const server = createServer(listener);
  server.on('connection', (socket) => timeouts.watch(socket));
  return { server, port: await sockets.listen(server) };
}

describe.each([
  ['http', createServer as typeof createHttpsServer, get, Agent],
  ['https', createHttpsServer, getSecure, SecureAgent],
] as const)('of %s', (name, create, ask, AgentOf) => {
  test('a request under way is answered; what is kept alive is closed at once', async () => {
    const timeouts = socketTimeouts(scheduler, { idle: MINUTE });
    const held: ServerResponse[] = [];
    const server = create({ key, cert, keepAliveTimeout: MINUTE });
    server.on('request', (request, response) => {
      if (request.url === '/held') held.push(response);
      else response.end('quick');
    });
    server.on(name === 'http' ? 'connection' : 'secureConnection', (socket: Socket) => timeouts.watch(socket));
    const port = await sockets.listen(server);
    const agent = new AgentOf({ keepAlive: true });
    const options = { port, host: '127.0.0.1', agent, rejectUnauthorized: false };
    expect(await bodyOf(await answerTo(ask({ ...options, path: '/quick' })))).toBe('quick');
    await turn();
    const [kept] = Object.values(agent.freeSockets).flat() as Socket[];
    expect(kept).toBeDefined();
    const other = new AgentOf({ keepAlive: true });
    const late = answerTo(ask({ ...options, agent: other, path: '/held' }));
    await until(() => held.length === 1);
    const drained = timeouts.drain(10_000, server);
    await once(kept, 'close');
    await until(() => timeouts.counts.idle.watched === 1);
    await pass(600); // beyond a quarter of a second without a byte
    held[0].end('late');
    expect(await bodyOf(await late)).toBe('late');
    expect(await drained).toEqual({ closed: 2, cut: 0 });
    await expect(answerTo(ask({ ...options, path: '/quick' }))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(scheduler.size).toBe(0);
    agent.destroy();
    other.destroy();
  });

  test.each([
    ['watched', true],
    ['not watched', false],
  ])('an answer on its way to a slow reader comes whole: %s', async (_, isWatched) => {
    const timeouts = socketTimeouts(scheduler, { idle: MINUTE });
    const server = create({ key, cert });
    server.on('request', (_, response) => {
      response.setHeader('content-length', BIG);
      response.end(Buffer.alloc(BIG));
    });
    const near = new Promise<Socket>((resolve) => {
      server.on(name === 'http' ? 'connection' : 'secureConnection', (socket: Socket) => {
        if (isWatched) timeouts.watch(socket);
        resolve(socket);
      });
    });
    const port = await sockets.listen(server);
    const agent = new AgentOf({ keepAlive: true });
    const answer = await answerTo(ask({ port, host: '127.0.0.1', agent, rejectUnauthorized: false }));
    expect((await near).writableLength).toBeGreaterThan(0);
    const drained = timeouts.drain(10_000, server);
    await pass(600); // looks at it meanwhile
    expect(await bodyOf(answer)).toHaveLength(BIG);
    expect(await drained).toEqual({ closed: isWatched ? 1 : 0, cut: 0 });
    agent.destroy();
  });
});

test('of http: what is not answered is cut at the deadline, also what nobody watches', async () => {
  const kinds: string[] = [];
  const timeouts = socketTimeouts(scheduler, { onTimeout: (kind) => kinds.push(kind) });
  const server = createServer();
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    if (connections === 1) timeouts.watch(socket);
  });
  const port = await sockets.listen(server);
  const asked = [1, 2].map(() => answerTo(get({ port, host: '127.0.0.1', agent: false })));
  const ends = Promise.allSettled(asked);
  await until(() => connections === 2);
  expect(await timeouts.drain(100, server)).toEqual({ closed: 0, cut: 1 });
  for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'ECONNRESET' } });
  expect(kinds).toEqual(['drain']);
});

test('of http: an upgraded socket ends when it falls idle, and no sooner', async () => {
  const timeouts = socketTimeouts(scheduler, { idle: MINUTE });
  const server = createServer();
  server.on('connection', (socket) => timeouts.watch(socket));
  const upgraded = new Promise<Socket>((resolve) =>
    server.on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: test\r\n\r\n');
      resolve(socket as Socket);
    }),
  );
  const port = await sockets.listen(server);
  const asked = request({ port, host: '127.0.0.1', headers: { connection: 'upgrade', upgrade: 'test' } });
  asked.end();
  const [, far] = (await once(asked, 'upgrade')) as [unknown, Socket];
  const near = sockets.keep(await upgraded);
  sockets.keep(far).resume();
  near.resume();
  const drained = timeouts.drain(10_000, server);
  const talk = setInterval(() => far.write('a'), 20);
  await pass(700);
  expect(near.destroyed).toBe(false);
  clearInterval(talk);
  expect(await drained).toEqual({ closed: 1, cut: 0 });
});

test('of http: nothing of close() is lost but what it destroys', async () => {
  const timeouts = socketTimeouts(scheduler, {});
  const server = createServer();
  await sockets.listen(server);
  const timers = Object.getOwnPropertySymbols(server).filter(({ description = '' }) =>
    description.endsWith('Interval'),
  );
  expect(timers).toHaveLength(1);
  const timer = Reflect.get(server, timers[0]) as { _destroyed: boolean };
  expect(timer._destroyed).toBe(false);
  const { closeIdleConnections } = server;
  expect(await timeouts.drain(MINUTE, server)).toEqual({ closed: 0, cut: 0 });
  expect(timer._destroyed).toBe(true);
  expect(Object.hasOwn(server, 'closeIdleConnections')).toBe(false);
  expect(server.closeIdleConnections).toBe(closeIdleConnections);
});

test('of http: a request of which a part has come is answered; a client that has sent nothing ends', async () => {
  const timeouts = socketTimeouts(scheduler, { idle: MINUTE });
  const { server, port } = await watchedServer(timeouts, (_, response) => response.end('whole'));
  const [silent, inHead, inBody] = Array.from({ length: 3 }, () => sockets.keep(connect(port, '127.0.0.1')));
  const ends = Promise.all([silent, inHead, inBody].map((far) => once(far, 'close')));
  const bodies = [inHead, inBody].map(async (far) => {
    let body = '';
    for await (const chunk of far.setEncoding('utf8')) body += chunk;
    return body;
  });
  silent.resume();
  inHead.write('GET / HTTP/1.1\r\nhost: ');
  inBody.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\na');
  await until(() => timeouts.counts.idle.watched === 3);
  await pass(50);
  const drained = timeouts.drain(10_000, server);
  await pass(600);
  expect([silent, inHead, inBody].map((far) => far.readableEnded)).toEqual([true, false, false]);
  inHead.write('a\r\n\r\n');
  inBody.write('a');
  expect(await drained).toEqual({ closed: 3, cut: 0 });
  for (const body of await Promise.all(bodies)) expect(body).toContain('whole');
  await ends;
});

test("of http: without Node's list a request under way is answered, and what nobody watches is closed last", async () => {
  const timeouts = socketTimeouts(scheduler, { idle: MINUTE });
  const { server, port } = await watchedServer(timeouts, (request, response) => {
    request.resume().on('end', () => response.end(Buffer.alloc(BIG)));
  });
  const list = Object.getOwnPropertySymbols(server).find(({ description = '' }) => description.endsWith('connections'));
  expect(Reflect.deleteProperty(server, list as symbol)).toBe(true);
  let calls = 0;
  server.closeIdleConnections = () => {
    calls += 1;
  };
  const asked = once(server, 'request');
  const asking = request({ port, host: '127.0.0.1', method: 'POST', agent: new Agent({ keepAlive: true }) });
  const answered = answerTo(asking);
  asking.write('a');
  await asked;
  const drained = timeouts.drain(10_000, server);
  await pass(600);
  asking.end('a');
  const answer = await answered;
  calls = 0;
  await pass(600);
  expect(calls).toBe(0);
  expect(await bodyOf(answer)).toHaveLength(BIG);
  expect(await drained).toEqual({ closed: 1, cut: 0 });
  expect(calls).toBeGreaterThan(0);
});

describe('of http: a request under way is answered', () => {
  const answerLate: RequestListener = (_, response) => {
    setTimeout(() => response.end('late'), 1_300);
  };

  /** The answer, or the code of what came instead. */
  const ask = ({ port }: { port: number }): Promise<string> =>
    answerTo(get({ port, host: '127.0.0.1', agent: new Agent({ keepAlive: true }) })).then(bodyOf, ({ code }) => code);

  test.each(['is not told to the drain', 'has been closed before'])('of a server that %s', async (which) => {
    const timeouts = socketTimeouts(scheduler, { idle: MINUTE });
    const listening = await watchedServer(timeouts, answerLate);
    const body = ask(listening);
    await once(listening.server, 'request');
    if (which === 'has been closed before') listening.server.close();
    expect(await timeouts.drain(10_000)).toEqual({ closed: 1, cut: 0 });
    expect(await body).toBe('late');
  });

  test('of two servers, whose drains are one', async () => {
    const timeouts = socketTimeouts(scheduler, { idle: 2_000 });
    const listening = [await watchedServer(timeouts, answerLate), await watchedServer(timeouts, answerLate)];
    const requests = listening.map(({ server }) => once(server, 'request'));
    const bodies = listening.map(ask);
    await Promise.all(requests);
    await pass(900); // no byte has moved from one look, at 500 ms, to now
    const drains = listening.map(({ server }) => timeouts.drain(10_000, server));
    expect(await Promise.all(bodies)).toEqual(['late', 'late']);
    expect(await Promise.all(drains)).toEqual(Array(2).fill({ closed: 2, cut: 0 }));
  });
});
