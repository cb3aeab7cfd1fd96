import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { buildShard, type LaneOrigin } from '../../src/shard/build-shard.ts';
import { type FromThread, receiveCall } from '../../src/shard/lane-mail.ts';
import { LaneServer, type ReturnedLane } from '../../src/shard/lane-server.ts';
import { Mailbox } from '../../src/sharing/mailbox.ts';
import { presets } from '../../src/wheel/presets.ts';
import { until } from '../fixtures/event-loop.ts';
import { LaneClient } from './lane-client.ts';
import { allocateSetup } from './lane-world.ts';

const EPOCH = 3;

/** The thread's side of a shard without lanes, and what it has answered; and three clients that have a lane each. */
function newThread() {
  const { lanes, ...setup } = allocateSetup({ capacity: 8, clients: 3, wheel: presets.default });
  const clients = lanes.map((_, number) => new LaneClient({ lanes, ...setup }, number, 1000));
  const built = buildShard(setup);
  const server = new LaneServer(built);
  const reply = `lane-server test ${randomUUID()}`;
  const answers: FromThread[] = [];
  const mailbox = new Mailbox<FromThread>(reply, (answer) => answers.push(answer));
  onTestFinished(() => mailbox.close());
  let request = 0;
  const ask = (client: number, call: Exclude<keyof LaneServer, 'detach'>, epoch: number, ...given: unknown[]) => {
    request += 1;
    receiveCall(server, setup.number, epoch, { call, client, given, epoch: EPOCH, reply, request });
  };
  const attach = (client: number, origin: LaneOrigin, epoch = EPOCH) =>
    ask(client, 'attach', epoch, [{ placement: 0, setup: lanes[client], origin }]);
  const answered = async (count: number) => {
    await until(() => answers.length >= count);
    return answers.at(-1);
  };
  return { lanes, clients, ...built, server, ask, answered, attach };
}

test('a lane that is offered to another epoch is left alone', async () => {
  const { shard, attach, answered } = newThread();
  for (const epoch of [EPOCH - 1, EPOCH + 1]) attach(1, 'nothing', epoch);
  expect(shard.lanes).toEqual([]);
  attach(1, 'nothing');
  expect(shard.lanes.length).toBe(1);
  expect(await answered(1)).toEqual({ kind: 'answer', host: 0, request: 3, answer: 0 });
});

test('is served from its table, until its client goes; the lanes of others stay', async () => {
  const { shard, server, attach, clients, clock, answered } = newThread();
  const [, one, other] = clients;
  const timer = one.send(10);
  attach(1, 'tables');
  expect(await answered(1)).toMatchObject({ answer: 1 });
  attach(2, 'nothing');
  expect(await answered(2)).toMatchObject({ answer: 0 });
  const last = other.send(20);
  clock.set(10);
  while (shard.turn());
  expect(one.take()).toEqual([timer]);
  receiveCall(server, 0, EPOCH, { call: 'detach', client: 1 });
  expect(shard.lanes.length).toBe(1);
  clock.set(20);
  while (shard.turn());
  expect(other.take()).toEqual([last]);
});

test('what a client asks for is answered about its own lanes; left, they are served no more', async () => {
  const { shard, server, ask, attach, clients, answered } = newThread();
  const [, one, other] = clients;
  attach(1, 'nothing');
  attach(2, 'nothing');
  const timers = [one.send(50), one.send(40)];
  other.send(30);
  while (shard.turn());
  ask(1, 'stats', EPOCH);
  expect(await answered(3)).toMatchObject({ answer: [{ commands: 2, filed: 2, lanes: 1 }] });
  ask(1, 'nextDue', EPOCH);
  expect(await answered(4)).toMatchObject({ answer: 40 });
  ask(1, 'handOver', EPOCH);
  const left = (await answered(5)) as FromThread & { answer: ReturnedLane[] };
  expect(left.answer.map(({ placement }) => placement)).toEqual([0]);
  const entries = [...(left.answer[0].entries as Int32Array)].filter((_, at) => at % 2 === 0);
  expect(entries).toEqual([timers[1].slot, timers[0].slot]); // by due tick
  expect(shard.lanes.length).toBe(1);
  expect(server.stats(1)).toEqual([]);
});

test("the owner's counts and wheels include the work for others, by placement", () => {
  const { lanes, clients, shard, server } = newThread();
  const offer = (at: number, placement: number) => [{ placement, setup: lanes[at], origin: 'nothing' as const }];
  const filed = [server.attach(0, offer(0, 3)), server.attach(1, offer(1, 3)), server.attach(1, offer(2, 4))];
  expect(filed).toEqual([0, 0, 0]);
  for (const client of clients) client.send(50);
  while (shard.turn());
  expect(server.stats(0)).toMatchObject([{ commands: 2, filed: 2, lanes: 2 }]);
  expect(server.stats(1)).toMatchObject([{ commands: 1 }, { commands: 1 }]);
  expect(server.wheels(0).map(({ queues }) => queues.map(({ client }) => client))).toEqual([[undefined, 1]]);
});

test('a lane for which there is no memory is refused to its client, and nobody else notices', async () => {
  const { lanes, shard, ask, attach, answered } = newThread();
  attach(2, 'nothing');
  const broken = { ...lanes[1], memory: { ...lanes[1].memory, capacity: 2 ** 53 } };
  ask(1, 'attach', EPOCH, [
    { placement: 0, setup: lanes[0], origin: 'nothing' },
    { placement: 1, setup: broken, origin: 'nothing' },
  ]);
  expect(((await answered(2)) as FromThread).answer).toBeInstanceOf(Error);
  expect(shard.lanes.length).toBe(1);
});
