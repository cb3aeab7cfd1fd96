import { createRequire } from 'node:module';
import { createScheduler, type Scheduler, type SchedulerOptions } from 'shardwheel';
import { expect, test } from 'vitest';
import { SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';
import { Fault, type FaultKind, type Point, withFaults } from '../fixtures/fault.ts';
import { internalsOf } from '../fixtures/internals.ts';
import { Ledger } from '../fixtures/ledger.ts';
import { killShard, publish } from '../fixtures/shard-threads.ts';
import { FuzzedClient } from '../sharing/fuzzed-client.ts';

const HANG_TIMEOUT = 800;

/**
 * The owner of one shard, here, and a client of it in another thread. Both have timers all the time, and a ledger each.
 */
class World {
  readonly owner: Scheduler;
  client!: FuzzedClient;
  readonly ledger: Ledger;
  private isOver = false;

  constructor(owner: Scheduler) {
    this.owner = owner;
    this.ledger = new Ledger(owner);
  }

  static async of(make: () => Scheduler): Promise<World> {
    const world = new World(make());
    world.client = new FuzzedClient(SEED, { handle: world.owner.share() });
    await world.client.handle;
    world.work();
    return world;
  }

  /** Both do without: what they have set has ended once, and none of it early. */
  async end({ isClientGone = false } = {}): Promise<void> {
    this.isOver = true;
    if (!isClientGone) expect(await this.client.stop()).toEqual({ lost: 0, wrong: undefined });
    expect(this.client.counts).toMatchObject({ early: 0, doubled: 0, wrong: 0 });
    await until(() => this.owner.size === 0);
    await this.owner.close();
    this.ledger.expectEachOnce();
    expect(this.ledger.count).toBeGreaterThan(100);
    expect(this.client.counts.delivered).toBeGreaterThan(100);
  }

  /** Resolves when the client, too, has had timers delivered after this. */
  async goesOn(): Promise<void> {
    const { delivered } = this.client.counts;
    const { ended } = this.ledger;
    await until(() => this.client.counts.delivered > delivered + 1000 && this.ledger.ended > ended + 200);
  }

  stopOwnersWork(): void {
    this.isOver = true;
  }

  private readonly work = (): void => {
    if (this.isOver) return;
    for (let i = 0; i < 20 && this.owner.size < 500; i++) this.ledger.schedule(this.ledger.count % 30);
    setTimeout(this.work, 1);
  };
}

const options: SchedulerOptions = {
  shards: 1,
  capacity: 8192,
  thread: { hangTimeout: HANG_TIMEOUT, inlineAfter: { deaths: Number.POSITIVE_INFINITY, within: 1 } },
};
const restartsOf = (scheduler: Scheduler): string[] => {
  const causes: string[] = [];
  scheduler.on('shard-restart', ({ cause }) => causes.push(`${cause.name}: ${cause.message}`));
  scheduler.on('error', () => undefined);
  return causes;
};

// What a thread does to both, where, how, and how often; another thread has to follow.
test.each<[name: string, point: Point, kind: FaultKind, times: number]>([
  ['dies while loading', 'booting', 'exit', 2],
  ['dies before its loop', 'starting', 'exit', 1],
  ['dies attaching', 'attaching', 'exit', 2],
  ['has no memory for the lanes', 'filing', 'throw', 2],
  ['dies attached', 'firing', 'exit', 2],
  ['hangs attaching', 'attaching', 'hang', 1],
  ['hangs attached', 'firing', 'hang', 1],
  ['dies between raising a bell and waking its client', 'between raising and waking', 'exit', 2],
])('a thread %s: owner and client have each timer once, none early', async (_, point, kind, times) => {
  const fault = new Fault(point, kind, { times });
  const world = await World.of(() => withFaults([fault], () => createScheduler(options)));
  const causes = restartsOf(world.owner);
  await until(() => fault.isReached);
  await world.goesOn();
  await world.owner.ready;
  await world.goesOn();
  await until(() => causes.length > 0);
  await world.end();
});

test('a thread dies leaving: what the client has asked for it gets from the successor', async () => {
  const fault = new Fault('leaving', 'exit', { times: 1 });
  const world = await World.of(() => withFaults([fault], () => createScheduler(options)));
  const causes = restartsOf(world.owner);
  await world.owner.ready;
  await world.goesOn();
  const [host] = internalsOf(world.owner).coordinator.hosts;
  await host.endThread();
  expect(fault.isReached).toBe(true);
  await until(() => causes.length > 0);
  await world.goesOn();
  expect(host.isInline).toBe(false);
  await world.end();
});

test('a thread is refused again and again, then not', async () => {
  const threads = createRequire(import.meta.url)('node:worker_threads') as typeof import('node:worker_threads');
  const { Worker } = threads;
  let refusals = 0;
  const world = await World.of(() => {
    const owner = createScheduler(options);
    Object.assign(threads, {
      Worker: new Proxy(Worker, {
        construct(target, given, newTarget) {
          if (new Error().stack?.includes('piscina') && refusals++ < 3) throw new Error('EAGAIN');
          return Reflect.construct(target, given, newTarget);
        },
      }),
    });
    return owner;
  });
  await world.goesOn(); // inline, both of them
  await world.owner.ready;
  Object.assign(threads, { Worker });
  await world.goesOn();
  expect((await world.owner.stats()).shards[0]).toMatchObject({ inline: false });
  await world.end();
});

test('the owner closes while its thread attaches, serves, has died: the client goes on', async () => {
  for (const moment of ['attaching', 'firing', undefined] as const) {
    const fault = new Fault(moment ?? 'parked', 'stand');
    const world = await World.of(() => withFaults(moment === undefined ? [] : [fault], () => createScheduler(options)));
    restartsOf(world.owner);
    if (moment === undefined) {
      await world.owner.ready;
      await world.goesOn();
      killShard(world.owner, 0);
    } else await until(() => fault.isReached);
    world.stopOwnersWork();
    publish(world.owner);
    world.ledger.takeBack(await world.owner.close());
    const { delivered } = world.client.counts;
    await until(() => world.client.counts.delivered > delivered + 1000);
    expect(await world.client.stop()).toEqual({ lost: 0, wrong: undefined });
    world.ledger.expectEachOnce();
  }
});

test('a client is terminated, closed, blocked: the owner goes on, and another client after it', async () => {
  const world = await World.of(() => createScheduler(options));
  restartsOf(world.owner);
  await world.owner.ready;
  await world.goesOn();
  world.client.block(500);
  await world.goesOn();
  await world.client.terminate();
  await until(async () => (await world.owner.stats()).clients.length === 1); // swept
  world.client = new FuzzedClient(SEED, { handle: world.owner.share() });
  await world.client.handle;
  await world.goesOn();
  expect(await world.client.stop()).toEqual({ lost: 0, wrong: undefined });
  await world.end({ isClientGone: true });
});
