import { expect, test } from 'vitest';
import { LaneHost } from '../../src/hosts/lane-host.ts';
import type { LaneLink } from '../../src/hosts/lane-link.ts';
import type { OfferedLane } from '../../src/shard/lane-server.ts';
import { until } from '../fixtures/event-loop.ts';
import { LaneClient } from '../shard/lane-client.ts';
import { allocateSetup } from '../shard/lane-world.ts';

/** A host whose thread answers when the test has it answer. */
function newHost() {
  const rings = { commands: 16, fired: 8 };
  const setup = allocateSetup({ capacity: 64, clients: 2, rings, maxBatch: 7, budget: 9, manual: true });
  const calls: { name: string; placements: number[]; answer: (value: unknown) => void }[] = [];
  const call = (_: number, name: string, offered: readonly OfferedLane[] = []) =>
    new Promise((answer) => {
      calls.push({ name, placements: offered.map(({ placement }) => placement), answer });
    });
  const nothing = () => undefined;
  const link = { server: () => ({ by: 'thread', epoch: 1 }), want: nothing, call, lost: nothing, left: nothing };
  const rest = { refused: () => false, release: () => Promise.resolve(), deaths: 0, cause: new Error('dead') };
  const here = { wakeClient: nothing, serveHere: nothing, leaveHere: nothing, relocated: nothing };
  const events = { ...here, failed: nothing, restarted: nothing, stays: nothing };
  const host = new LaneHost(setup, { ...link, ...rest } as unknown as LaneLink, events);
  const open = (placement: number) => {
    const { stage } = new LaneClient(setup, placement, 7).lane;
    host.open({ placement, setup: setup.lanes[placement], stage });
  };
  const told = () => calls.map(({ name, placements }) => `${name} ${placements}`.trim());
  return { host, open, calls, told };
}

test('a lane that is opened while refused ones are asked back is offered once, with them', async () => {
  const { host, open, calls, told } = newHost();
  open(0);
  host.startThread();
  expect(told()).toEqual(['attach 0']);
  calls[0].answer(new RangeError('no memory'));
  await until(() => calls.length === 2);
  open(1);
  expect(told()).toEqual(['attach 0', 'leave']); // a thread that takes a lane after it has left all has it twice
  calls[1].answer([]);
  await until(() => calls.length === 3);
  expect(told()).toEqual(['attach 0', 'leave', 'attach 0,1']);
  calls[2].answer(0);
  await host.ready();
});

test('a lane that is opened while the thread is asked to leave stays with the client', async () => {
  const { host, open, calls, told } = newHost();
  open(0);
  host.startThread();
  calls[0].answer(0);
  await host.ready();
  const ended = host.endThread();
  open(1);
  await until(() => calls.length === 2);
  calls[1].answer([{ placement: 0, entries: new Int32Array(0) }]);
  await ended;
  expect(told()).toEqual(['attach 0', 'leave']);
  expect(host.isInline).toBe(true);
  host.startThread();
  expect(told().at(-1)).toBe('attach 0,1');
});
