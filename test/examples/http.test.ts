import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { AbortError, createScheduler, TimeoutError } from 'shardwheel';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DeadlineClient } from '../../dist/examples/http/deadline-client.js';
import { TimedServer } from '../../dist/examples/http/timed-server.js';

// Sockets are real, time is not.
let scheduler: ReturnType<typeof createScheduler>;
let server: TimedServer;
let client: DeadlineClient;
let answer: (() => void) | undefined;
let requests: number;

beforeEach(async () => {
  scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 1024 });
  requests = 0;
  server = await TimedServer.listen(
    ({ url }, response) => {
      requests += 1;
      if (url === '/late') answer = () => response.end('late');
      else if (url === '/half') response.write('half of it');
      else response.end('hello');
    },
    { scheduler, headers: 1000, keepAlive: 5000 },
  );
  client = new DeadlineClient({ scheduler, deadline: 2000 });
});
afterEach(async () => {
  await server.close();
  await eventually(() => expect(scheduler.size).toBe(0));
  await scheduler.close();
});

const eventually = (assertion: () => void) => vi.waitFor(assertion, { timeout: 5000, interval: 2 });
const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;
const open = async (): Promise<Socket> => {
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  await once(socket, 'connect');
  await eventually(() => expect(scheduler.size).toBe(1));
  return socket;
};

test('client: an answer in time is an answer, and leaves no timer of the client', async () => {
  const got = client.get(at('/late'));
  await eventually(() => expect(requests).toBe(1));
  await scheduler.advanceTo(1999);
  answer?.();
  expect(await got).toEqual({ status: 200, body: 'late' });
});

test.each(['/late', '/half'])(
  'client: past its deadline a request of %s is given up, and its socket closed',
  async (path) => {
    const got = client.get(at(path)).catch((error) => error);
    await eventually(() => expect(requests).toBe(1));
    await scheduler.advanceTo(2000);
    expect(await got).toBeInstanceOf(TimeoutError);
    await eventually(() => expect(scheduler.size).toBe(0)); // nothing left to keep alive
  },
);

test('client: an aborted request is given up', async () => {
  const controller = new AbortController();
  const got = client.get(at('/late'), controller.signal).catch((error) => error);
  await eventually(() => expect(requests).toBe(1));
  controller.abort();
  expect(await got).toBeInstanceOf(AbortError);
});

test('client: a refused connection is the error that it is', async () => {
  const { port } = server;
  await server.close();
  await expect(client.get(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  server = await TimedServer.listen(() => {}, { scheduler, headers: 1000, keepAlive: 5000 });
});

test('server: headers that do not come in time are answered with 408', async () => {
  const socket = await open();
  socket.write('GET / HTTP/1.1\r\nHost: exa');
  await scheduler.advanceTo(999);
  expect(socket.closed).toBe(false);
  await scheduler.advanceTo(1000);
  const [chunk] = await once(socket, 'data');
  expect(String(chunk)).toMatch(/^HTTP\/1\.1 408 /);
  socket.destroy();
});

test('server: a connection is kept alive for its time after an answer, and not while it is answered', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (path: string) => {
    const [response] = await once(get(at(path), { agent }), 'response');
    return response;
  };
  const late = ask('/late');
  await eventually(() => expect(requests).toBe(1));
  expect(scheduler.size).toBe(0);
  await scheduler.advanceTo(100_000);
  answer?.();
  const { socket } = (await late).resume();
  await eventually(() => expect(scheduler.size).toBe(1));
  await scheduler.advanceTo(104_999);
  expect((await ask('/')).resume().socket).toBe(socket);
  await eventually(() => expect([requests, scheduler.size]).toEqual([2, 1]));
  await scheduler.advanceTo(109_998);
  expect(socket.closed).toBe(false);
  await scheduler.advanceTo(109_999);
  await eventually(() => expect(socket.closed).toBe(true));
  agent.destroy();
});
