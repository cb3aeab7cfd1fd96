import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { type ClientScope, ClientThread } from '../fixtures/client-thread.ts';
import { until } from '../fixtures/event-loop.ts';
import { type World, worlds } from '../fixtures/worlds.ts';

/** Where a durable timer is when its timer on the program's scheduler ends. All of them are confirmed. */
const kinds = [
  'young',
  'young, moved',
  'young, between two attempts',
  'stored',
  'stored, moved',
  'stored, between two attempts',
] as const;
type Kind = (typeof kinds)[number];

/** Ways in which the program, or others, end what they have not set. */
const ways = ['delivered', 'cancel', 'cancelMany', 'cancelAnywhere', 'handed back', 'handed over'] as const;
type Way = (typeof ways)[number] | 'by others' | 'owner closed';

/** What came of the timers of a kind, and what is left of them. */
interface Outcome {
  /** How often the one that was due soon has been delivered, and whether ever early. */
  soon: { delivered: number; early: boolean };
  /**
   * Of the one that is due much later: how often it was delivered, and its deadline in the store after `close()`, as it
   * was given.
   */
  far: { delivered: number; isStored: boolean };
}

/**
 * Timers of the scheduler that were ended, and that are left once all is over; who waits; whether the process is held.
 */
interface Outcomes {
  kinds: Record<string, Outcome>;
  ended: number;
  left: unknown[];
}

/**
 * Starts two timers of each of the kinds, ends their timers in one way, and says what has come of them. Its text runs
 * in the client's thread.
 */
async function endAll(scope: ClientScope, kinds: Kind[], way: Way): Promise<Outcomes> {
  const { scheduler, internals, createScheduler } = scope;
  const { client } = internals();
  const { memoryStore, openDurableTimers } = await scope.durable();
  const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const AHEAD = 1_500; // longer than it takes to set them all, on a busy machine too
  const FAR = 60_000;
  const store = memoryStore();
  const retry = { attempts: 3, delay: AHEAD, maxDelay: AHEAD };
  const timers = await openDurableTimers<Record<string, number>>({ store, scheduler, retry, horizon: 2 * FAR });
  const next = createScheduler({ shards: 0 });
  const delivered = new Map<string, number>();
  const early = new Set<string>();
  const failing = new Set<string>();
  const deadlines = new Map<string, number>();
  timers.handle('kept', (_, { key, deadline }) => {
    if (Date.now() < deadline) early.add(key);
    if (failing.delete(key)) throw new Error('as the test wants it');
    delivered.set(key, (delivered.get(key) ?? 0) + 1);
  });
  timers.on('error', (error) => {
    throw error;
  });

  for (const kind of kinds) {
    const options = { persistAfter: kind.startsWith('young') ? FAR : 0 };
    for (const [place, delay] of [
      ['soon', AHEAD],
      ['far', FAR],
    ] as const) {
      const key = `${kind}, ${place}`;
      const isTried = kind.endsWith('attempts') && place === 'soon';
      const isMoved = kind.endsWith('moved');
      if (isTried) failing.add(key);
      const first = isMoved ? FAR + 1000 : isTried ? 0 : delay;
      await timers.schedule('kept', key, Date.now() + first, 1, options);
      while (failing.has(key)) await pass(1);
      deadlines.set(key, Date.now() + delay);
      if (isMoved) await timers.reschedule('kept', key, deadlines.get(key) as number);
    }
  }
  const idsOf = () => [...scheduler.liveTimers()].flatMap(({ id }) => id ?? []);
  while (idsOf().length < 2 * kinds.length) await pass(1); // until the attempts are over
  const ids = idsOf();
  switch (way) {
    case 'cancel':
      for (const id of ids) scheduler.cancel(id);
      break;
    case 'cancelMany':
      scheduler.cancelMany(ids);
      break;
    case 'cancelAnywhere':
      for (const id of ids) await scheduler.cancelAnywhere(id);
      break;
    case 'by others':
      (globalThis as { endingIds?: number[] }).endingIds = ids;
      while (ids.some((id) => scheduler.has(id))) await pass(1);
      break;
    case 'owner closed':
      (globalThis as { endingIds?: number[] }).endingIds = ids;
      break;
    case 'handed back':
      await scheduler.close();
      break;
    case 'handed over':
      for (const { workerHint, callback, argument } of await scheduler.close())
        next.scheduleAfter(workerHint, 1, callback, argument);
      break;
  }
  const ended = ids.filter((id) => !scheduler.has(id)).length;
  for (let waited = 0; waited < 20_000 && delivered.size < kinds.length; waited += 5) await pass(5);
  await pass(20); // for what comes twice
  await timers.close();
  const reopened = await openDurableTimers({ store: memoryStore(store) });
  const all: Record<string, Outcome> = {};
  for (const kind of kinds) {
    const soon = `${kind}, soon`;
    const far = `${kind}, far`;
    const kept = await reopened.get('kept', far);
    all[kind] = {
      soon: { delivered: delivered.get(soon) ?? 0, early: early.has(soon) },
      far: {
        delivered: delivered.get(far) ?? 0,
        isStored: Math.abs(Number(kept?.deadline) - Number(deadlines.get(far))) < 1000,
      },
    };
  }
  await reopened.close();
  await next.close();
  const { refs, waiters } = client;
  return { kinds: all, ended, left: [scheduler.size, waiters, refs.isHolding, refs.unrefCount] };
}

const kept: Outcome = { soon: { delivered: 1, early: false }, far: { delivered: 0, isStored: true } };
const expected = Object.fromEntries(kinds.map((kind) => [kind, kept]));
const nothing = [0, 0, false, 0];

async function inWorld<T>(
  { shards, isConnected }: World,
  use: (client: ClientThread, owner: Scheduler | undefined) => Promise<T>,
): Promise<T> {
  await using owner = isConnected ? createScheduler({ shards }) : undefined;
  await using client = owner ? ClientThread.connect(owner.share()) : ClientThread.own({ shards });
  await client.run(({ scheduler }) => scheduler.ready);
  return await use(client, owner);
}

/** Of each kind two timers, which the program sees in its lists. */
const COUNT = 2 * kinds.length;

describe.each(worlds)(
  'a confirmed timer is delivered once, or kept in the store, whoever ends its timer on the scheduler: $name',
  (world) => {
    test.each(ways)('%s', async (way) => {
      const outcomes = await inWorld(world, (client) => client.run(endAll, [...kinds], way));
      expect(outcomes).toEqual({ kinds: expected, ended: way === 'delivered' ? 0 : COUNT, left: nothing });
    });
  },
);

describe.each(worlds.filter(({ isConnected }) => isConnected))('others end its timer: $name', (world) => {
  test.each(['by others', 'owner closed'] as const)('%s', (way) =>
    inWorld(world, async (client, owner) => {
      const ended = client.run(endAll, [...kinds], way);
      let ids: number[] = [];
      await until(async () => {
        ids = await client.run(() => (globalThis as { endingIds?: number[] }).endingIds ?? []);
        return ids.length > 0;
      });
      if (way === 'owner closed') await owner?.close();
      else for (const id of ids) expect(await owner?.cancelAnywhere(id)).toBe(true);
      expect(await ended).toEqual({ kinds: expected, ended: way === 'owner closed' ? 0 : COUNT, left: nothing });
    }),
  );
});
