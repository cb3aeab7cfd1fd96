import { isDeepStrictEqual } from 'node:util';
import { Registry } from 'prom-client';
import { createScheduler, type LabelStats, type Scheduler } from 'shardwheel';
import { registerMetrics } from 'shardwheel/prometheus';
import { describe, expect, test } from 'vitest';
import { answeredStats } from '../fixtures/answered-stats.ts';
import { ClientThread, Gate } from '../fixtures/client-thread.ts';
import { until } from '../fixtures/event-loop.ts';

const HOUR = 3_600_000;

/** Makes the label in a client, with a timer that is due in two hours; answers with its id. */
const withTimer = (client: ClientThread, name: string) =>
  client.run(({ scheduler }, name) => scheduler.label(name, { min: 0 }).scheduleAfter('a', 7_200_000), name);

/** The label's factor in a client, and the hours until its timer is due. */
const seen = (client: ClientThread, name: string, id: number) =>
  client.run(
    ({ scheduler }, name, id) => {
      const hours = ((scheduler.deadlineOf(id) as number) - scheduler.now()) / 3_600_000;
      return [scheduler.label(name).factor, Math.round(2 * hours) / 2];
    },
    name,
    id,
  );

const scaleEverywhere = (client: ClientThread, name: string, factor: number) =>
  client.run(
    ({ scheduler }, name, factor) => scheduler.label(name, { min: 0 }).setScale(factor, { everywhere: true }),
    name,
    factor,
  );

const factorOf = (client: ClientThread, name: string) =>
  client.run(({ scheduler }, name) => scheduler.label(name, { min: 0 }).factor, name);

/** ms for which `setScale` waits for clients that do not follow. */
const PATIENCE = 1000;

/**
 * What `read` answers once a factor has been set: at once, unless a client has not come to its turn in the time that it
 * is waited for, on a busy machine.
 */
async function whenSet<T>(set: Promise<void>, read: () => Promise<T>, expected: T): Promise<void> {
  const begun = performance.now();
  await set;
  const hasWaited = performance.now() - begun >= PATIENCE;
  if (hasWaited) await until(async () => isDeepStrictEqual(await read(), expected));
  expect(await read()).toEqual(expected);
}

describe.each([0, 1])('▲ setScale everywhere: shards %i', (shards) => {
  test('whoever sets it, it holds in all clients when it resolves, and for labels that are made later', async () => {
    await using owner = createScheduler({ shards });
    await using one = ClientThread.connect(owner.share());
    await using other = ClientThread.connect(owner.share());
    const own = owner.label('idle', { min: 0 });
    const id = own.scheduleAfter('a', 2 * HOUR);
    const ids = [await withTimer(one, 'idle'), await withTimer(other, 'idle')];
    await other.run(({ scheduler }) => void scheduler.label('unscaled'));

    const both = async () => [await seen(one, 'idle', ids[0]), await seen(other, 'idle', ids[1])];
    await whenSet(own.setScale(0.25, { everywhere: true }), both, [
      [0.25, 0.5],
      [0.25, 0.5],
    ]);
    const hours = () => Math.round(((owner.deadlineOf(id) as number) - owner.now()) / HOUR);
    const all = async () => [own.factor, hours(), await seen(other, 'idle', ids[1])];
    await whenSet(scaleEverywhere(one, 'idle', 0.5), all, [0.5, 1, [0.5, 1]]);

    await scaleEverywhere(one, 'later', 0.125);
    // Labels that are made later.
    const later = async () => [owner.label('later', { min: 5 }).factor, await factorOf(other, 'later')];
    await whenSet(scaleEverywhere(one, 'unscaled', 0.125), later, [0.125, 0.125]);
    expect(await other.run(({ scheduler }) => scheduler.label('unscaled').factor)).toBe(1);
    await using late = ClientThread.connect(owner.share()); // a client that comes later
    expect(await factorOf(late, 'idle')).toBe(0.5);
    expect(await seen(late, 'later', await withTimer(late, 'later'))).toEqual([0.125, 0]);
  });

  test('what was set before anybody shared the scheduler is found by those who come', async () => {
    await using owner = createScheduler({ shards });
    await owner.label('idle', { min: 0 }).setScale(0.5, { everywhere: true });
    await owner.label('own', { min: 0 }).setScale(0.5);
    await using client = ClientThread.connect(owner.share());
    expect([await factorOf(client, 'idle'), await factorOf(client, 'own')]).toEqual([0.5, 1]);
    expect(owner.label('idle').factor).toBe(0.5);
  });

  test('of two settings the later one counts, in one client or in all', async () => {
    await using owner = createScheduler({ shards });
    await using client = ClientThread.connect(owner.share());
    const own = owner.label('idle', { min: 0 });
    const id = await withTimer(client, 'idle');
    await whenSet(own.setScale(0.5, { everywhere: true }), () => seen(client, 'idle', id), [0.5, 1]);
    await client.run(({ scheduler }) => scheduler.label('idle').setScale(0.75));
    await owner.label('another', { min: 0 }).setScale(0.25, { everywhere: true }); // of another label
    expect(await seen(client, 'idle', id)).toEqual([0.75, 1.5]);
    expect(own.factor).toBe(0.5);
    // The same again is a setting.
    await whenSet(own.setScale(0.5, { everywhere: true }), () => seen(client, 'idle', id), [0.5, 1]);
    await whenSet(own.setScale(1, { everywhere: true }), () => seen(client, 'idle', id), [1, 2]);
  });

  test('a client whose loop is blocked does not hold it up for long, and follows in its next turn', async () => {
    await using owner = createScheduler({ shards });
    await using client = ClientThread.connect(owner.share());
    const id = await withTimer(client, 'idle');
    const gate = new Gate();
    const { ended } = await gate.block(client);
    await owner.label('idle', { min: 0 }).setScale(0.25, { everywhere: true });
    gate.open();
    await ended;
    await until(async () => (await seen(client, 'idle', id))[1] === 0.5);
    expect(await seen(client, 'idle', id)).toEqual([0.25, 0.5]);
  });

  test('clients that have ended hold nothing up; those that outlive their owner go on', async () => {
    const owner = createScheduler({ shards });
    await using one = ClientThread.connect(owner.share());
    await using other = ClientThread.connect(owner.share());
    const gone = ClientThread.connect(owner.share());
    await withTimer(gone, 'idle');
    await gone.worker.terminate();
    const id = await withTimer(other, 'idle');
    await factorOf(one, 'idle'); // it has connected
    await owner.label('idle', { min: 0 }).setScale(0.5, { everywhere: true });
    await until(async () => (await seen(other, 'idle', id))[1] === 1);
    await owner.close();
    await scaleEverywhere(one, 'idle', 0.25);
    await until(async () => (await seen(other, 'idle', id))[1] === 0.5); // a client that is slow is not waited for
    expect(await seen(other, 'idle', id)).toEqual([0.25, 0.5]);
  });
});

const byLabel = (labels: readonly LabelStats[]) =>
  Object.fromEntries(
    labels.map(({ label, size, scheduled, cancelled, delivered, factor, lateness }) => [
      label,
      [size, scheduled, cancelled, delivered, lateness.count, factor],
    ]),
  );

describe.each([0, 1])("▲ the owner's labels by client: shards %i", (shards) => {
  async function shared(use: (owner: Scheduler, client: ClientThread) => Promise<void>): Promise<void> {
    await using owner = createScheduler({ shards });
    await using client = ClientThread.connect(owner.share());
    const idle = owner.label('idle', { min: 0 });
    for (let i = 0; i < 3; i++) idle.scheduleAfter(i, HOUR);
    await idle.setScale(0.75);
    await client.run(async ({ scheduler }) => {
      const idle = scheduler.label('idle', { min: 0 });
      for (let i = 0; i < 5; i++) idle.scheduleAfter(i, 3_600_000);
      scheduler.cancel(idle.scheduleAfter('a', 3_600_000));
      await idle.setScale(0.25);
      await new Promise<void>((resolve) => scheduler.label('own').scheduleAfter('a', 1, () => resolve()));
    });
    await use(owner, client);
  }

  test('stats() tells them by client, and sums them by label; the factor is the least', () =>
    shared(async (owner, client) => {
      const { clients, labels } = await answeredStats(owner);
      expect(clients.map(({ labels }) => byLabel(labels))).toEqual([
        { idle: [3, 3, 0, 0, 0, 0.75] },
        { idle: [5, 6, 1, 0, 0, 0.25], own: [0, 1, 0, 1, 1, 1] },
      ]);
      expect(byLabel(labels)).toEqual({ idle: [8, 9, 1, 0, 0, 0.25], own: [0, 1, 0, 1, 1, 1] });
      expect(labels[1].lateness).toEqual(clients[1].labels[1].lateness);
      expect(
        await client.run(async ({ scheduler }) => (await scheduler.stats()).labels.map(({ size }) => size)),
      ).toEqual([5, 0]);
    }));

  test('metrics count each timer once', () =>
    shared(async (owner) => {
      const registry = new Registry();
      registerMetrics(owner, registry);
      let text = '';
      await until(async () => {
        text = await registry.metrics();
        return text.includes('shardwheel_client_answered{client="1"} 1');
      });
      const of = (name: string) =>
        text
          .split('\n')
          .filter((line) => line.startsWith(`shardwheel_label_${name}{`))
          .sort();
      expect(of('timers_live')).toEqual([
        'shardwheel_label_timers_live{client="0",label="idle"} 3',
        'shardwheel_label_timers_live{client="1",label="idle"} 5',
        'shardwheel_label_timers_live{client="1",label="own"} 0',
      ]);
      expect(of('factor')).toEqual(['shardwheel_label_factor{client="0",label="idle"} 0.25']);
    }));

  test('a client that leaves takes its counts along; of a blocked one they are as it last told', () =>
    shared(async (owner, client) => {
      await answeredStats(owner);
      const gate = new Gate();
      await client.run(({ scheduler }) => void scheduler.label('idle').scheduleAfter('a', 3_600_000));
      const { ended } = await gate.block(client);
      const blocked = await owner.stats();
      expect(blocked.clients.map(({ answered }) => answered)).toEqual([true, false]);
      expect(byLabel(blocked.labels).idle.slice(0, 2)).toEqual([8, 9]);
      gate.open();
      await ended;
      expect(byLabel((await answeredStats(owner)).labels).idle.slice(0, 2)).toEqual([9, 10]);
      await client.run(({ scheduler }) => scheduler.close().then(() => undefined));
      await until(async () => (await owner.stats()).clients.length === 1);
      expect(byLabel((await owner.stats()).labels)).toEqual({ idle: [3, 3, 0, 0, 0, 0.75] });
    }));
});

test('▲ a client whose loop has stopped is seen: fired and not taken, in stats() and metrics', async () => {
  await using owner = createScheduler({ shards: 1 });
  await owner.ready;
  await using client = ClientThread.connect(owner.share());
  await client.run(({ scheduler }) => void scheduler.scheduleAfter('a', 3_600_000));
  await until(() => client.run(async ({ scheduler }) => (await scheduler.stats()).shards[0].inline === false));
  const words = new Int32Array(new SharedArrayBuffer(4));
  const ended = client.run(({ scheduler }, words) => {
    for (let i = 0; i < 10; i++) scheduler.scheduleAfter(i, 150, () => undefined);
    void scheduler.nextExpiration(); // publishes them
    Atomics.wait(words, 0, 0); // and the loop stops, before any of them is due
  }, words);
  await until(async () => (await owner.stats()).clients[1].untaken === 10);
  const { clients, untaken } = await owner.stats();
  expect([untaken, clients.map(({ untaken, answered }) => [untaken, answered])]).toEqual([
    0,
    [
      [0, true],
      [10, false],
    ],
  ]);
  const registry = new Registry();
  registerMetrics(owner, registry);
  const text = await registry.metrics();
  expect(text).toContain('shardwheel_timers_untaken{client="1"} 10\n');
  expect(text).toContain('shardwheel_client_answered{client="1"} 0\n');
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  await ended;
  await until(async () => (await answeredStats(owner)).clients[1].untaken === 0);
});
