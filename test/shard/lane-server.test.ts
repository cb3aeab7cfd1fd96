import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ClientLane } from '../../src/client/client-lane.ts';
import { ClientTime } from '../../src/client/client-time.ts';
import { allocateDoorbell, ClientBell, Doorbell } from '../../src/lane/doorbell.ts';
import { wordOf } from '../../src/lane/due-word.ts';
import { allocateHeartbeat } from '../../src/lane/heartbeat.ts';
import { allocateLane } from '../../src/lane/lane-memory.ts';
import { buildShard, type LaneOrigin } from '../../src/shard/build-shard.ts';
import { type FromThread, receiveCall } from '../../src/shard/lane-mail.ts';
import { LaneServer, type LeftLane } from '../../src/shard/lane-server.ts';
import { Mailbox } from '../../src/sharing/mailbox.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { TickScale } from '../../src/time/tick-scale.ts';
import { timerIdLayout } from '../../src/timer-id.ts';
import { presets } from '../../src/wheel/presets.ts';
import { until } from '../fixtures/event-loop.ts';
import { scheduleOn } from '../lane/schedule-on.ts';

const CAPACITY = 8;
const EPOCH = 3;

/** The thread's side of a shard without lanes, and what it has answered. */
function newThread() {
  const setup = {
    number: 5,
    tick: 1,
    wheel: presets.default,
    clock: SharedClock.allocate(true),
    doorbell: allocateDoorbell(),
    heartbeat: allocateHeartbeat(),
  };
  const built = buildShard(setup);
  const server = new LaneServer(built);
  const reply = `lane-server test ${randomUUID()}`;
  const answers: FromThread[] = [];
  const mailbox = new Mailbox<FromThread>(reply, (answer) => answers.push(answer));
  const time = new ClientTime(new SharedClock(setup.clock), new TickScale(1));
  const newLane = () => {
    const memory = allocateLane(CAPACITY);
    const lane = new ClientLane(memory, timerIdLayout(1, CAPACITY), 0, new Doorbell(setup.doorbell), time);
    return { lane, setup: { memory, clientBell: ClientBell.allocate() } };
  };
  const schedule = (lane: ClientLane, deadline: number) => {
    const slot = scheduleOn(lane, deadline, wordOf(time.dueTickOf(deadline, 0)));
    lane.commands.publish();
    return slot;
  };
  let request = 0;
  const ask = (client: number, call: Exclude<keyof LaneServer, 'detach'>, epoch: number, ...given: unknown[]) => {
    request += 1;
    receiveCall(server, setup.number, epoch, { call, client, given, epoch: EPOCH, reply, request });
  };
  const attach = (client: number, lane: ReturnType<typeof newLane>, origin: LaneOrigin, epoch = EPOCH, placement = 0) =>
    ask(client, 'attach', epoch, [{ placement, setup: lane.setup, origin }]);
  const answered = async (count: number) => {
    await until(() => answers.length >= count);
    return answers.at(-1);
  };
  return { built, server, ask, answered, mailbox, time, newLane, schedule, attach };
}

test('a lane that is offered to another epoch is left alone', async () => {
  const { built, attach, newLane, answered, mailbox } = newThread();
  for (const epoch of [EPOCH - 1, EPOCH + 1]) attach(1, newLane(), 'nothing', epoch);
  expect(built.shard.lanes).toEqual([]);
  attach(1, newLane(), 'nothing');
  expect(built.shard.lanes.length).toBe(1);
  expect(await answered(1)).toEqual({ kind: 'answer', host: 5, request: 3, answer: 0 });
  mailbox.close();
});

test('is served from its table, until its client goes; the lanes of others stay', async () => {
  const { built, server, attach, newLane, schedule, time, answered, mailbox } = newThread();
  const [one, other] = [newLane(), newLane()];
  const slot = schedule(one.lane, 10);
  attach(1, one, 'tables');
  expect(await answered(1)).toMatchObject({ answer: 1 });
  attach(2, other, 'nothing');
  expect(await answered(2)).toMatchObject({ answer: 0 });
  const last = schedule(other.lane, 20);
  time.clock.set(10);
  while (built.shard.turn());
  expect([one.lane.firedCount(), one.lane.takeFired()]).toEqual([1, slot]);
  receiveCall(server, 5, EPOCH, { call: 'detach', client: 1 });
  expect(built.shard.lanes.length).toBe(1);
  time.clock.set(20);
  while (built.shard.turn());
  expect(other.lane.takeFired()).toBe(last);
  mailbox.close();
});

test('what a client asks for is answered about its own lanes; left, they are served no more', async () => {
  const { built, server, ask, attach, newLane, schedule, answered, mailbox } = newThread();
  const [one, other] = [newLane(), newLane()];
  attach(1, one, 'nothing');
  attach(2, other, 'nothing');
  const slots = [schedule(one.lane, 50), schedule(one.lane, 40)];
  schedule(other.lane, 30);
  while (built.shard.turn());
  ask(1, 'stats', EPOCH);
  expect(await answered(3)).toMatchObject({ answer: [{ commands: 2, filed: 2, lanes: 1 }] });
  ask(1, 'earliestDueTick', EPOCH);
  expect(await answered(4)).toMatchObject({ answer: 40 });
  ask(1, 'leave', EPOCH);
  const left = (await answered(5)) as FromThread & { answer: LeftLane[] };
  expect(left.answer.map(({ placement }) => placement)).toEqual([0]);
  const entries = [...(left.answer[0].entries as Int32Array)].filter((_, at) => at % 2 === 0);
  expect(entries).toEqual([slots[1], slots[0]]); // by due tick
  expect(built.shard.lanes.length).toBe(1);
  expect(server.stats(1)).toEqual([]);
  mailbox.close();
});

test("the owner's counts and wheels include the work for others, by placement", () => {
  const { built, server, newLane, schedule, mailbox } = newThread();
  const lanes = [newLane(), newLane(), newLane()];
  const offer = (at: number, placement: number) => [{ placement, setup: lanes[at].setup, origin: 'nothing' as const }];
  expect([server.attach(0, offer(0, 3)), server.attach(1, offer(1, 3)), server.attach(1, offer(2, 4))]).toEqual([
    0, 0, 0,
  ]);
  for (const { lane } of lanes) schedule(lane, 50);
  while (built.shard.turn());
  expect(server.stats(0)).toMatchObject([{ commands: 2, filed: 2, lanes: 2 }]);
  expect(server.stats(1)).toMatchObject([{ commands: 1 }, { commands: 1 }]);
  expect(server.wheels(0).map(({ queues }) => queues.map(({ client }) => client))).toEqual([[undefined, 1]]);
  mailbox.close();
});

test('a lane for which there is no memory is refused to its client, and nobody else notices', async () => {
  const { built, ask, attach, newLane, answered, mailbox } = newThread();
  attach(2, newLane(), 'nothing');
  const { setup } = newLane();
  const broken = { ...setup, memory: { ...setup.memory, capacity: 2 ** 53 } };
  ask(1, 'attach', EPOCH, [
    { placement: 0, setup: newLane().setup, origin: 'nothing' },
    { placement: 1, setup: broken, origin: 'nothing' },
  ]);
  expect(((await answered(2)) as FromThread).answer).toBeInstanceOf(Error);
  expect(built.shard.lanes.length).toBe(1);
  mailbox.close();
});
