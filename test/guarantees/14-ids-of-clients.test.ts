import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { ClientThread, Gate } from '../fixtures/client-thread.ts';
import { until } from '../fixtures/event-loop.ts';

const COUNT = 2000;

describe.each([0, 2])("guarantee 14, ids are the client's: shards %i", { concurrent: true }, (shards) => {
  test('to any other they are stale: every call answers so, and touches nothing', async () => {
    await using scheduler = createScheduler({ shards, capacity: 2 ** 16 });
    await using client = ClientThread.connect(scheduler.share());
    for (let i = 0; i < COUNT; i++) scheduler.scheduleAfter(i, 60_000);
    await client.run(({ book }, count) => {
      for (let name = 0; name < count; name++) book.schedule(name, 60_000);
    }, COUNT);
    const ids = await client.run(({ book }) => book.ids);
    expect(ids.length).toBe(COUNT);
    for (const id of ids) {
      const answers = [scheduler.cancel(id), scheduler.has(id), scheduler.rescheduleAfter(id, 5)];
      expect([...answers, scheduler.deadlineOf(id)]).toEqual([false, false, false, undefined]);
    }
    expect(scheduler.cancelMany(ids)).toBe(0);
    expect(scheduler.size).toBe(COUNT);
    expect(await client.run(({ scheduler }) => scheduler.size)).toBe(COUNT);
  });

  test('cancelAnywhere finds the one that it belongs to, from anywhere, and only while it is live', async () => {
    await using scheduler = createScheduler({ shards, capacity: 2 ** 16 });
    const unshared = scheduler.scheduleAfter(1, 60_000);
    expect([await scheduler.cancelAnywhere(unshared), await scheduler.cancelAnywhere(unshared)]).toEqual([true, false]);
    const handle = scheduler.share();
    await using first = ClientThread.connect(handle);
    await using second = ClientThread.connect(handle);
    const own = scheduler.scheduleAfter(1, 60_000);
    const ofFirst = await first.run(({ book }) => book.schedule(0, 60_000));
    const ofSecond = await second.run(({ book }) => book.schedule(0, 60_000));
    const cancelAnywhere = (client: ClientThread, id: number) =>
      client.run(({ scheduler }, id) => scheduler.cancelAnywhere(id), id);
    expect(await cancelAnywhere(first, own)).toBe(true);
    expect(scheduler.has(own)).toBe(false);
    expect(await scheduler.cancelAnywhere(ofFirst)).toBe(true);
    expect(await cancelAnywhere(first, ofSecond)).toBe(true);
    for (const id of [own, ofFirst, ofSecond]) {
      expect(await scheduler.cancelAnywhere(id)).toBe(false);
      expect(await cancelAnywhere(second, id)).toBe(false);
    }
    expect(await second.run(({ scheduler }) => scheduler.size)).toBe(0);
    for (const no of [Number.NaN, -1, 2 ** 60, 'id', undefined]) {
      expect(await scheduler.cancelAnywhere(no as number)).toBe(false);
    }
  });

  test('against a concurrent delivery: each timer is cancelled or delivered, and never both', async () => {
    await using scheduler = createScheduler({ shards, capacity: 2 ** 16 });
    await using client = ClientThread.connect(scheduler.share());
    const ids = await client.run(({ book }, count) => {
      for (let name = 0; name < count; name++) book.schedule(name, name % 10 === 0 ? 60_000 : 1 + (name % 60));
      return book.ids;
    }, COUNT);
    let cancelled = 0;
    for (let at = 0; at < COUNT; at += 40) {
      const answers = await Promise.all(ids.slice(at, at + 40).map((id) => scheduler.cancelAnywhere(id)));
      cancelled += answers.filter(Boolean).length;
    }
    await until(() => client.run(({ scheduler }) => scheduler.size === 0));
    const { ended, doubled } = await client.sum();
    expect({ ended, doubled }).toEqual({ ended: COUNT - cancelled, doubled: 0 });
    expect(cancelled).toBeGreaterThanOrEqual(COUNT / 10);
  });

  test('a client that is blocked is waited for, one that is gone is not', async () => {
    await using scheduler = createScheduler({ shards, capacity: 2 ** 16 });
    const handle = scheduler.share();
    await using client = ClientThread.connect(handle);
    await using doomed = ClientThread.connect(handle);
    const id = await client.run(({ book }) => book.schedule(0, 60_000));
    const lost = await doomed.run(({ book }) => book.schedule(0, 60_000));
    const gate = new Gate();
    const block = await gate.block(client);
    await new Gate().block(doomed); // for good
    let answer: boolean | undefined;
    const asked = scheduler.cancelAnywhere(id).then((was) => {
      answer = was;
    });
    const unanswered = scheduler.cancelAnywhere(lost);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(answer).toBeUndefined();
    await doomed.worker.terminate();
    gate.open();
    await Promise.all([block.ended, asked]);
    expect(answer).toBe(true);
    expect(await unanswered).toBe(false);
  });

  test('without the owner, among the clients; and close() puts an end to the wait', async () => {
    const scheduler = createScheduler({ shards, capacity: 2 ** 16 });
    const handle = scheduler.share();
    await using first = ClientThread.connect(handle);
    await using second = ClientThread.connect(handle);
    const [id] = await Promise.all([first.run(({ book }) => book.schedule(0, 60_000)), second.sum()]);
    await scheduler.close();
    expect(await scheduler.cancelAnywhere(id)).toBe(false); // it has left
    expect(await second.run(({ scheduler }, id) => scheduler.cancelAnywhere(id), id)).toBe(true);
    const gate = new Gate();
    const block = await gate.block(first);
    const code = await second.run(async ({ scheduler }) => {
      const [asked] = await Promise.allSettled([scheduler.cancelAnywhere(1), scheduler.close()]);
      return asked.status === 'rejected' ? asked.reason.code : asked.value;
    });
    expect(code).toBe('ERR_SCHEDULER_CLOSED');
    gate.open();
    await block.ended;
  });
});
