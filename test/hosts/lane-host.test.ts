import { expect, test } from 'vitest';
import { LaneHost } from '../../src/hosts/lane-host.ts';
import { GONE, type LaneLink } from '../../src/hosts/lane-link.ts';
import type { OfferedLane } from '../../src/shard/lane-server.ts';
import type { ServerState } from '../../src/sharing/board.ts';
import { pass, until } from '../fixtures/event-loop.ts';
import { LaneClient } from '../shard/lane-client.ts';
import { allocateSetup } from '../shard/lane-world.ts';

/** A host whose thread answers when the test has it answer. */
function newHost({ endsRefusing = false } = {}) {
  const rings = { commands: 16, fired: 8 };
  const setup = allocateSetup({ capacity: 64, clients: 2, rings, maxBatch: 7, budget: 9, manual: true });
  const calls: { told: string; answer: (value: unknown) => void; reject: (error: Error) => void }[] = [];
  const origins = (offered: readonly OfferedLane[]) =>
    offered.map(({ placement, origin }) => `${placement} from ${origin instanceof Int32Array ? 'entries' : origin}`);
  const call = (epoch: number, name: string, offered: readonly OfferedLane[] = []) =>
    new Promise((answer, reject) => {
      calls.push({ told: [`${epoch}: ${name}`, ...origins(offered)].join(', '), answer, reject });
    });
  const board: { server: ServerState } = { server: { by: 'thread', epoch: 1 } };
  const nothing = () => undefined;
  const link = { server: () => board.server, want: nothing, call, lost: nothing, handedBack: nothing };
  const rest = { refused: () => endsRefusing, release: () => Promise.resolve(), deaths: 0, cause: new Error('dead') };
  const heard: string[] = [];
  const here = { wakeClient: nothing, serveHere: nothing, leaveHere: nothing };
  const host = new LaneHost(setup, { ...link, ...rest } as unknown as LaneLink, {
    ...here,
    relocated: () => void heard.push(host.isInline ? 'here' : 'away'),
    failed: () => void heard.push('failed'),
    restarted: nothing,
    stays: () => void heard.push('stays'),
  });
  const open = (placement: number) => {
    const { stage } = new LaneClient(setup, placement, 7).lane;
    host.open({ placement, setup: setup.lanes[placement], stage });
  };
  const name = (server: ServerState) => {
    board.server = server;
    host.checkBoard();
  };
  let taken = 0;
  /** The next question, when it is asked: one at a time is open. */
  const asked = async () => {
    await until(() => calls.length > taken);
    expect(calls.length).toBe(taken + 1);
    taken += 1;
    return calls[taken - 1];
  };
  return { host, open, name, asked, calls, heard };
}

/** One whose thread has taken lane 0. */
async function newAttached(options?: { endsRefusing?: boolean }) {
  const world = newHost(options);
  world.open(0);
  world.host.startThread();
  const first = await world.asked();
  expect(first.told).toBe('1: attach, 0 from nothing');
  first.answer(0);
  await world.host.ready();
  return world;
}

const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let isDone = false;
  void promise.then(
    () => {
      isDone = true;
    },
    () => undefined,
  );
  await pass(3);
  return isDone;
};

const OUT_OF_MEMORY = new RangeError('no memory');

test('a lane that is opened while refused ones are asked back is offered once, with them', async () => {
  const { host, open, asked, heard } = newHost();
  open(0);
  host.startThread();
  (await asked()).answer(OUT_OF_MEMORY);
  const leaving = await asked();
  open(1);
  expect(leaving.told).toBe('1: handOver'); // a thread that takes a lane after it has handed all back has it twice
  leaving.answer([]);
  const again = await asked();
  expect(again.told).toBe('1: attach, 0 from tables, 1 from tables');
  again.answer(0);
  await host.ready();
  expect(heard).toEqual(['away', 'failed']);
});

test('a thread that has no memory for the lanes time after time is not asked again, and they are served here', async () => {
  const { host, open, asked, heard, calls } = newHost();
  open(0);
  host.startThread();
  for (let refusals = 0; refusals < 4; refusals++) {
    (await asked()).answer(OUT_OF_MEMORY);
    (await asked()).answer([]);
  }
  await host.ready();
  expect(host.isInline).toBe(true);
  expect(heard).toEqual(['away', 'failed', 'failed', 'failed', 'failed', 'here']);
  expect(calls.length).toBe(8);
});

test('a thread that is ended for refusing lanes is asked nothing more, and the next takes them from the tables', async () => {
  const { host, open, name, asked, calls } = newHost({ endsRefusing: true });
  open(0);
  host.startThread();
  (await asked()).answer(OUT_OF_MEMORY);
  open(1);
  host.moved();
  await pass(3);
  expect(calls.length).toBe(1);
  name({ by: 'nothing' });
  name({ by: 'thread', epoch: 2 });
  const next = await asked();
  expect(next.told).toBe('2: attach, 0 from tables, 1 from tables');
  next.answer(0);
  await host.ready();
});

test('a lane that is opened while the thread is asked to leave stays with the client', async () => {
  const { host, open, asked, heard } = await newAttached();
  const ended = host.endThread();
  open(1);
  const leaving = await asked();
  expect(leaving.told).toBe('1: handOver');
  leaving.answer([{ placement: 0, entries: new Int32Array(0) }]);
  await ended;
  expect([host.isInline, heard]).toEqual([true, ['away', 'here']]);
  host.startThread();
  expect((await asked()).told).toBe('1: attach, 0 from entries, 1 from tables');
});

test('lanes that go back to the very thread that has handed them back are asked one question at a time', async () => {
  const { host, open, asked } = await newAttached();
  const ended = host.endThread().then(() => host.startThread()); // before the loop of the first time has seen its end
  (await asked()).answer([{ placement: 0, entries: new Int32Array(0) }]);
  await ended;
  const again = await asked();
  expect(again.told).toBe('1: attach, 0 from entries');
  open(1);
  await pass(3);
  again.answer(0);
  const further = await asked();
  expect(further.told).toBe('1: attach, 1 from nothing');
  further.answer(0);
  await host.ready();
});

test('a call waits for lanes that are on their way, and is answered for all', async () => {
  const { host, open, asked } = await newAttached();
  open(1);
  const answer = host.call('nextDue');
  const offer = await asked();
  expect(offer.told).toBe('1: attach, 1 from nothing');
  expect(await isSettled(host.ready())).toBe(false);
  offer.answer(0);
  const call = await asked();
  expect(call.told).toBe('1: nextDue');
  call.answer(7);
  expect(await answer).toBe(7);
});

test('a table that moves while its lane is offered has all offered again, from the tables', async () => {
  const { host, open, asked } = await newAttached();
  open(1);
  const offer = await asked();
  host.moved();
  offer.answer(0);
  const leaving = await asked();
  expect(leaving.told).toBe('1: handOver');
  leaving.answer([]);
  const again = await asked();
  expect(again.told).toBe('1: attach, 0 from tables, 1 from tables');
  again.answer(0);
  await host.ready();
});

test('a table that moves while the thread is asked to leave is read, not the entries of the old one', async () => {
  const { host, asked } = await newAttached();
  const ended = host.endThread();
  const leaving = await asked();
  host.moved();
  leaving.answer([{ placement: 0, entries: new Int32Array(0) }]);
  await ended;
  host.startThread();
  expect((await asked()).told).toBe('1: attach, 0 from tables');
});

test('a thread that is no longer wanted while it takes lanes has them back when it has answered', async () => {
  const { host, open, asked } = newHost();
  open(0);
  host.startThread();
  const offer = await asked();
  const ended = host.endThread();
  offer.answer(0);
  (await asked()).answer([{ placement: 0, entries: new Int32Array(0) }]);
  await ended;
  expect(host.isInline).toBe(true);
});

test.each([
  ['answers that it is gone', ({ answer }: { answer: (value: unknown) => void }) => answer(GONE)],
  ['does not answer', () => undefined],
])('a thread that dies while it is asked to leave, and %s: its successor keeps the lanes', async (_, die) => {
  const { host, name, asked, calls } = await newAttached();
  const ended = host.endThread();
  const leaving = await asked();
  die(leaving);
  await pass(3);
  expect(calls.length).toBe(2);
  name({ by: 'nothing' });
  await ended;
  await host.endThread(); // without effect between two threads as well
  name({ by: 'thread', epoch: 2 });
  const next = await asked();
  expect(next.told).toBe('2: attach, 0 from tables');
  leaving.answer([{ placement: 0, entries: new Int32Array(0) }]); // too late
  next.answer(0);
  await host.ready();
  expect(await isSettled(host.call('nextDue'))).toBe(false);
  expect((await asked()).told).toBe('2: nextDue');
});

test('a question that cannot be asked leaves the lanes where they are', async () => {
  const { host, open, asked } = await newAttached();
  const ended = host.endThread();
  open(1);
  (await asked()).reject(OUT_OF_MEMORY);
  await ended;
  expect(host.isInline).toBe(false);
  const offer = await asked();
  expect(offer.told).toBe('1: attach, 1 from nothing');
  offer.answer(0);
  await host.ready();
});

test('where there will be no thread, the lanes are served here for good, wherever they were', async () => {
  const { host, name, heard } = await newAttached();
  name({ by: 'clients' });
  await host.ready();
  expect([host.isInline, heard]).toEqual([true, ['away', 'here', 'stays']]);
  host.startThread();
  expect(host.isInline).toBe(true);
  await host.stop();
});
