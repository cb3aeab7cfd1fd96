import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ClientLane } from '../../src/client/client-lane.ts';
import { ClientTime } from '../../src/client/client-time.ts';
import { allocateDoorbell, ClientBell, Doorbell } from '../../src/lane/doorbell.ts';
import { wordOf } from '../../src/lane/due-word.ts';
import { allocateHeartbeat } from '../../src/lane/heartbeat.ts';
import { allocateLane } from '../../src/lane/lane-memory.ts';
import { buildShard, type LaneOrigin, type ShardSetup } from '../../src/shard/build-shard.ts';
import { type FromShard, GuestLanes } from '../../src/shard/guest-lanes.ts';
import { Mailbox } from '../../src/sharing/mailbox.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { TickScale } from '../../src/time/tick-scale.ts';
import { timerIdLayout } from '../../src/timer-id.ts';
import { presets } from '../../src/wheel/presets.ts';
import { until } from '../fixtures/event-loop.ts';
import { scheduleOn } from '../lane/schedule-on.ts';

const CAPACITY = 8;
const EPOCH = 3;

/** The thread's side of a shard without lanes of its own, and what it has answered. */
function newThread() {
  const setup: ShardSetup = {
    number: 5,
    tick: 1,
    wheel: presets.default,
    clock: SharedClock.allocate(true),
    doorbell: allocateDoorbell(),
    heartbeat: allocateHeartbeat(),
    lanes: [],
  };
  const built = buildShard(setup, 'nothing');
  const guests = new GuestLanes(built, EPOCH);
  const reply = `guest-lanes test ${randomUUID()}`;
  const answers: FromShard[] = [];
  const mailbox = new Mailbox<FromShard>(reply, (answer) => answers.push(answer));
  const time = new ClientTime(new SharedClock(setup.clock), new TickScale(1));
  const newLane = () => {
    const memory = allocateLane(CAPACITY);
    const lane = new ClientLane(memory, timerIdLayout(1, CAPACITY), 0, new Doorbell(setup.doorbell), time);
    return { lane, setup: { memory, clientBell: ClientBell.allocate() } };
  };
  const schedule = (lane: ClientLane, deadline: number) => {
    const slot = scheduleOn(lane, deadline, wordOf(time.dueTickOf(deadline)));
    lane.commands.publish();
    return slot;
  };
  const attach = (client: number, lane: ReturnType<typeof newLane>, origin: LaneOrigin, epoch = EPOCH) =>
    guests.receive({ kind: 'attach', client, epoch, reply, lanes: [{ placement: 0, setup: lane.setup, origin }] });
  const answered = async (count: number) => {
    await until(() => answers.length >= count);
    return answers.at(-1);
  };
  return { built, guests, reply, answered, mailbox, time, newLane, schedule, attach };
}

test('a lane that is offered to another epoch is left alone', async () => {
  const { built, attach, newLane, answered, mailbox } = newThread();
  for (const epoch of [EPOCH - 1, EPOCH + 1]) attach(1, newLane(), 'nothing', epoch);
  expect(built.shard.lanes).toEqual([]);
  attach(1, newLane(), 'nothing');
  expect(built.shard.lanes.length).toBe(1);
  expect(await answered(1)).toEqual({ kind: 'attached', host: 5, epoch: EPOCH, lanes: 1, found: 0 });
  mailbox.close();
});

test('is served from its table, until its client goes; the lanes of others stay', async () => {
  const { built, guests, attach, newLane, schedule, time, answered, mailbox } = newThread();
  const [one, other] = [newLane(), newLane()];
  const slot = schedule(one.lane, 10);
  attach(1, one, 'tables');
  attach(2, other, 'nothing');
  expect(await answered(2)).toMatchObject({ kind: 'attached', found: 0 });
  const last = schedule(other.lane, 20);
  time.clock.set(10);
  while (built.shard.turn());
  expect([one.lane.firedCount(), one.lane.takeFired()]).toEqual([1, slot]);
  guests.receive({ kind: 'detach', client: 1 });
  expect([guests.count, built.shard.lanes.length]).toEqual([1, 1]);
  time.clock.set(20);
  while (built.shard.turn());
  expect(other.lane.takeFired()).toBe(last);
  mailbox.close();
});

test('what a client asks for is answered about its own lanes; left, they are served no more', async () => {
  const { built, guests, reply, attach, newLane, schedule, answered, mailbox } = newThread();
  const [one, other] = [newLane(), newLane()];
  attach(1, one, 'nothing');
  attach(2, other, 'nothing');
  const slots = [schedule(one.lane, 50), schedule(one.lane, 40)];
  schedule(other.lane, 30);
  while (built.shard.turn());
  guests.receive({ kind: 'call', client: 1, epoch: EPOCH, reply, request: 7, call: 'stats' });
  expect(await answered(3)).toMatchObject({ kind: 'answer', host: 5, request: 7, answer: [{ commands: 2, filed: 2 }] });
  guests.receive({ kind: 'call', client: 1, epoch: EPOCH, reply, request: 8, call: 'leave' });
  const left = (await answered(4)) as FromShard & { answer: { placement: number; entries: Int32Array }[] };
  expect(left.answer.map(({ placement }) => placement)).toEqual([0]);
  const entries = [...left.answer[0].entries].filter((_, at) => at % 2 === 0);
  expect(entries).toEqual([slots[1], slots[0]]); // by due tick
  expect(guests.count).toBe(1);
  mailbox.close();
});

test('a lane for which there is no memory is refused to its client, and nobody else notices', async () => {
  const { built, guests, reply, attach, newLane, answered, mailbox } = newThread();
  attach(2, newLane(), 'nothing');
  const { setup } = newLane();
  const broken = { ...setup, memory: { ...setup.memory, capacity: 2 ** 53 } };
  const lanes = [{ placement: 0, setup: broken, origin: 'nothing' as const }];
  guests.receive({ kind: 'attach', client: 1, epoch: EPOCH, reply, lanes });
  expect(await answered(2)).toMatchObject({ kind: 'refused', host: 5, epoch: EPOCH, lanes: 1 });
  expect([guests.count, built.shard.lanes.length]).toEqual([1, 1]);
  mailbox.close();
});
