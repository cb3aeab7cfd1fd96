import {
  createScheduler,
  type Scheduler,
  type ShardInlineError,
  type ShardRestart,
  type UnfiredTimer,
} from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { RestartPolicy } from '../../src/hosts/restart-policy.ts';
import { runModule } from '../fixtures/child-process.ts';
import { pass, until } from '../fixtures/event-loop.ts';
import { Fault, type FaultKind, type Point, withFaults } from '../fixtures/fault.ts';
import { Ledger } from '../fixtures/ledger.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { killing, killShard } from '../fixtures/shard-threads.ts';
import { Tally } from '../fixtures/tally.ts';

const FOR_EVER = 2 ** 30;

/** A scheduler of two shards, of which the threads of the first meet the fault each time. */
function doomed(point: Point, kind: FaultKind) {
  const fault = new Fault(point, kind, { times: FOR_EVER });
  const inlineAfter = { deaths: 5, within: 600_000 }; // a busy machine may take seconds to start a thread
  const resourceLimits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 8 };
  const thread = { inlineAfter, resourceLimits };
  const scheduler = withFaults([fault], () => createScheduler({ shards: 2, capacity: 2 ** 20, thread }));
  return { scheduler, heard: listen(scheduler), fault };
}

function listen(scheduler: Scheduler) {
  const heard = { errors: [] as ShardInlineError[], restarts: [] as ShardRestart[] };
  scheduler.on('error', (error) => heard.errors.push(error as ShardInlineError));
  scheduler.on('shard-restart', (restart) => heard.restarts.push(restart));
  return heard;
}

const kindsOfShards = async (scheduler: Scheduler) => (await scheduler.stats()).shards.map(({ inline }) => inline);

describe('a shard whose threads die again and again goes on inline', () => {
  test.each([
    ['booting', 'exit'],
    ['booting', 'throw'],
    ['booting', 'memory'],
    ['starting', 'stand'],
    ['before draining', 'throw'],
    ['firing', 'exit'],
    ['between firing and publishing', 'throw'],
    ['after publishing', 'throw'],
    ['parked', 'exit'],
  ] as const)("%s, by '%s': an 'error' says so, every timer fires, the other shard stays", async (point, kind) => {
    const { scheduler, heard, fault } = doomed(point, kind);
    const ledger = new Ledger(scheduler);
    await until(() => {
      for (let i = 0; i < 50; i++) ledger.schedule((i % 40) / 2);
      if (kind === 'stand' && fault.takeReached()) killShard(scheduler, 0);
      return heard.errors.length > 0 && ledger.count > 2000;
    });
    await until(() => scheduler.size === 0);
    await pass(10);
    ledger.expectEachOnce();
    await scheduler.ready; // the other shard's thread may have come up last
    expect(await kindsOfShards(scheduler)).toEqual([true, false]);
    expect(heard.errors).toMatchObject([{ name: 'ShardInlineError', code: 'ERR_SHARD_INLINE', shard: 0 }]);
    const { message, cause } = heard.errors[0] as ShardInlineError & { cause: Error };
    expect(message).toBe(
      `The threads of shard 0 died too often (5 deaths, the last by ${cause.name}: ${cause.message}); ` +
        'it goes on inline, in the calling thread',
    );
    if (kind === 'memory') expect(cause).toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
    // A thread that dies before it is up has not served: the lanes stay where they were.
    if (point !== 'booting' && point !== 'starting') expect(heard.restarts.at(-1)?.cause).toBe(cause);
    expect(heard.restarts.every(({ shard }) => shard === 0)).toBe(true);
    expect(killShard(scheduler, 0)).toBe(false); // no thread of it is left
    expect(await scheduler.close()).toEqual([]);
  });

  test('live timers keep ids and deadlines; cancel, move and close go on', async () => {
    const thread = { inlineAfter: { deaths: 1, within: 1000 } };
    await using scheduler = await readyScheduler({ shards: 1, clock: 'manual', capacity: 1024, thread });
    const heard = listen(scheduler);
    const tally = new Tally(300);
    const ids = Array.from({ length: 300 }, (_, i) => scheduler.schedule(i, 10 + i, tally.add, i));
    expect(await scheduler.advanceTo(59)).toBe(50);
    killShard(scheduler, 0);
    for (let i = 50; i < 100; i++) if (scheduler.cancel(ids[i])) tally.add(i);
    for (let i = 100; i < 150; i++) expect(scheduler.reschedule(ids[i], 1000)).toBe(true);
    expect(await scheduler.advanceTo(259)).toBe(100); // 150 … 249
    expect(heard.restarts).toMatchObject([{ shard: 0, rescheduled: 200 }]);
    expect(heard.errors.length).toBe(1);
    expect(await scheduler.nextExpiration()).toBe(260);
    expect((await scheduler.stats()).shards).toMatchObject([{ restarts: 1, inline: true, size: 100 }]);
    expect(await scheduler.advanceTo(1000)).toBe(100);
    tally.expectEachOnce();
  });

  test.each([0, 5, 30, 100, 'told'] as const)(
    'closed %s ms later, or within the listener that is told: what was not delivered is handed back, and nothing said any more',
    async (wait) => {
      const { scheduler, heard } = doomed('firing', 'throw');
      await scheduler.ready; // until then nothing fires in a thread
      const ledger = new Ledger(scheduler);
      for (let i = 0; i < 1000; i++) ledger.schedule(i % 20);
      let told: unknown;
      const closing = new Promise<UnfiredTimer[]>((resolve) => {
        const close = () => {
          told = { errors: [...heard.errors], restarts: [...heard.restarts] };
          resolve(scheduler.close());
        };
        if (wait === 'told') scheduler.on('error', close);
        else setTimeout(close, wait);
      });
      ledger.takeBack(await closing);
      ledger.expectEachOnce();
      await pass(20);
      expect(heard).toEqual(told);
    },
  );

  test("without an 'error' listener it is a warning, and the process goes on to its natural end", async () => {
    const { code, stdout, stderr } = await runModule(
      `const scheduler = createScheduler({ shards, thread: { inlineAfter: { deaths: 2, within: 60_000 } } });
       await scheduler.ready;
       let fired = 0;
       for (let i = 0; i < 10; i++) scheduler.scheduleAfter('a', 20 * i, () => { fired += 1; });
       scheduler.on('shard-restart', () => ${killing.replace('[0].terminate', '[0]?.terminate')});
       ${killing};
       process.on('exit', () => console.log(fired));`,
      1,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: '10\n' });
    expect(stderr).toMatch(/ShardInlineError: The threads of shard 0 died too often/);
  });
});

describe('RestartPolicy', () => {
  test('no pause after the first death for a while, longer and longer ones after more, then none is started', () => {
    const policy = new RestartPolicy({ deaths: 12, within: 10_000 });
    const pauses = Array.from({ length: 12 }, (_, i) => policy.pauseAfterDeath(i));
    expect(pauses).toEqual([0, 10, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000, Number.POSITIVE_INFINITY]);
  });

  test('what is longer ago than the window does not count', () => {
    const policy = new RestartPolicy({ deaths: 3, within: 100 });
    const pauses = [0, 50, 100, 150, 200, 300, 301, 302].map((now) => policy.pauseAfterDeath(now));
    expect(pauses).toEqual([0, 10, 10, 10, 10, 0, 10, Number.POSITIVE_INFINITY]);
  });

  test('without a limit there is always another thread', () => {
    const policy = new RestartPolicy({ deaths: Number.POSITIVE_INFINITY, within: 10_000 });
    for (let death = 0; death < 1000; death++) expect(policy.pauseAfterDeath(death)).toBeLessThanOrEqual(1000);
  });
});
