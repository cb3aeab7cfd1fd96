import { executionAsyncId } from 'node:async_hooks';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { blockLoop, pass, until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { Tally } from '../fixtures/tally.ts';

/** A byte that goes to and fro over a real socket; `served` grows by one each way. */
async function pingPong() {
  const served = { count: 0 };
  const server = createServer((socket) => {
    socket.on('data', (data) => socket.write(data));
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('data', (data) => {
    served.count += 1;
    socket.write(data);
  });
  socket.on('error', () => undefined);
  socket.write('x');
  const close = async (): Promise<void> => {
    socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { served, close };
}

test.each([0, 1, 2])('a backlog comes in turns of maxBatch, and sockets between them: shards %i', async (shards) => {
  const maxBatch = 500;
  const count = 100_000;
  await using scheduler = await readyScheduler({ shards, maxBatch });
  const { served, close } = await pingPong();
  await until(() => served.count > 10);
  const tally = new Tally(count);
  const faults: string[] = [];
  let inTurn = 0;
  let turn = 0;
  let longestTurn = 0;
  const endTurn = () => {
    longestTurn = Math.max(longestTurn, inTurn);
    inTurn = 0;
  };
  const servedAt = new Set<number>();
  const deadlines = new Float64Array(count);
  const callback = (index: number) => {
    if (scheduler.now() < deadlines[index]) faults.push(`${index} is early`);
    // A turn of the native timer and one of an immediate may come in one pass of the loop, with I/O between them.
    if (executionAsyncId() !== turn) endTurn();
    turn = executionAsyncId();
    if (inTurn === 0) setImmediate(endTurn);
    inTurn += 1;
    tally.add(index);
    servedAt.add(served.count);
  };
  for (let i = 0; i < count; i++) {
    deadlines[i] = scheduler.now() + 100 + (i % 1500);
    scheduler.schedule(i, deadlines[i], callback, i);
  }
  await pass(20);
  blockLoop(2000);
  await until(() => scheduler.size === 0);
  await close();
  tally.expectEachOnce();
  expect(faults).toEqual([]);
  expect(longestTurn).toBeLessThanOrEqual(maxBatch);
  // A round trip needs two turns of the loop or three; there were 200 with deliveries.
  expect(servedAt.size).toBeGreaterThan(count / maxBatch / 10);
});
