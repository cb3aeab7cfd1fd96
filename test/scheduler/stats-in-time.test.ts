import {
  createScheduler,
  InvalidArgumentError,
  InvalidConfigError,
  type Scheduler,
  type StatsOptions,
} from 'shardwheel';
import { describe, expect, test, vi } from 'vitest';
import { internalsOf } from '../fixtures/internals.ts';
import { manual } from './manual.ts';

type Answer = Awaited<ReturnType<ReturnType<typeof hostOf>['call']>>;

const hostOf = (scheduler: Scheduler) => internalsOf(scheduler).coordinator.hosts[0];

/** Holds back what the shard answers, until it is let go, or fails in its place. */
function holdAnswers(scheduler: Scheduler) {
  const host = hostOf(scheduler);
  const call = host.call.bind(host);
  const held: { go: () => void; fail: (error: Error) => void }[] = [];
  const asked = vi.spyOn(host, 'call').mockImplementation((name) => {
    const answer = call(name);
    answer.catch(() => undefined); // of a test that closes the scheduler meanwhile
    return new Promise<never>((resolve, reject) => {
      held.push({ go: () => resolve(answer as Promise<Answer> as Promise<never>), fail: reject });
    });
  });
  return {
    held,
    get questions() {
      return asked.mock.calls.length;
    },
    end: () => asked.mockRestore(),
  };
}

describe.each([0, 1, 2])('stats({ timeout }), shards %i', (shards) => {
  test('says the same as stats() where all shards answer', async () => {
    await using scheduler = await manual({ shards });
    for (let i = 0; i < 100; i++) scheduler.schedule(i, 10 + i);
    await scheduler.advanceTo(50);
    const known = ({ shards }: Awaited<ReturnType<Scheduler['stats']>>) =>
      shards.map(({ turns: _, ...shard }) => shard); // each question is one
    const stats = known(await scheduler.stats());
    expect(known(await scheduler.stats({ timeout: 60_000 }))).toEqual(stats);
    expect(known(await scheduler.stats({}))).toEqual(stats);
    expect(stats.map(({ answered }) => answered)).toEqual(new Array(Math.max(1, shards)).fill(true));
  });

  test('after close() covers the client, also where close() comes in its midst', async () => {
    const scheduler = await manual({ shards });
    scheduler.schedule(1, 5);
    await scheduler.advanceTo(10);
    const answers = holdAnswers(scheduler);
    const during = scheduler.stats({ timeout: 5 });
    await scheduler.close();
    expect(await during).toMatchObject({ delivered: 1, shards: [] });
    answers.end();
    expect(await scheduler.stats({ timeout: 5 })).toMatchObject({ delivered: 1, shards: [] });
  });

  test('of a shard that has never answered says zeros, and what the client knows', async () => {
    await using scheduler = await manual({ shards });
    for (let i = 0; i < 100; i++) scheduler.schedule(0, 10);
    const answers = holdAnswers(scheduler);
    const [shard] = (await scheduler.stats({ timeout: 5 })).shards;
    const size = scheduler.shardOf(0) === 0 ? 100 : 0;
    expect(shard).toMatchObject({ answered: false, size, capacity: 4096, turns: 0, commands: 0, filed: 0, bytes: 0 });
    answers.end();
    const [answered] = (await scheduler.stats()).shards;
    expect(Object.keys(shard).sort()).toEqual(Object.keys(answered).sort());
  });
});

describe('a shard that does not answer in time', () => {
  test('is told as it was last known, by whichever call', async () => {
    await using scheduler = await manual({ shards: 1 });
    scheduler.schedule(0, 10);
    await scheduler.nextExpiration(); // by then the shard has taken the command
    const [first] = (await scheduler.stats()).shards;
    scheduler.schedule(0, 10);
    const answers = holdAnswers(scheduler);
    const [second] = (await scheduler.stats({ timeout: 5 })).shards;
    expect(first).toMatchObject({ answered: true, size: 1, commands: 1 });
    expect(second).toEqual({ ...first, answered: false, size: 2, highWater: 2 });
    answers.end();
  });

  test('is asked again once it has answered, and not before', async () => {
    await using scheduler = await manual({ shards: 1 });
    const answers = holdAnswers(scheduler);
    const answered = async () => (await scheduler.stats({ timeout: 5 })).shards.map(({ answered }) => answered);
    for (let call = 0; call < 3; call++) expect(await answered()).toEqual([false]);
    expect(answers.questions).toBe(1);
    answers.held[0].go();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await answered()).toEqual([false]);
    expect(answers.questions).toBe(2);
    answers.end();
    answers.held[1].go();
    await new Promise((resolve) => setImmediate(resolve));
    const stats = await scheduler.stats({ timeout: 60_000 });
    expect(stats.shards.map(({ answered }) => answered)).toEqual([true]);
  });

  test('is waited for no more than by calls that have begun', async () => {
    await using scheduler = await manual({ shards: 1 });
    const answers = holdAnswers(scheduler);
    const patient = scheduler.stats({ timeout: 60_000 });
    const [hasty] = (await scheduler.stats({ timeout: 5 })).shards;
    expect([hasty.answered, answers.questions]).toEqual([false, 2]);
    for (const { go } of answers.held) go();
    expect((await patient).shards[0].answered).toBe(true);
    answers.end();
  });

  test('is as one that fails; without a timeout stats() rejects', async () => {
    await using scheduler = await manual({ shards: 1 });
    const answers = holdAnswers(scheduler);
    const inTime = scheduler.stats({ timeout: 60_000 });
    const whole = scheduler.stats();
    for (const { fail } of answers.held) fail(new Error('no memory for the question'));
    expect((await inTime).shards.map(({ answered }) => answered)).toEqual([false]);
    await expect(whole).rejects.toThrow('no memory for the question');
    answers.end();
    expect((await scheduler.stats({ timeout: 60_000 })).shards[0].answered).toBe(true);
  });
});

test('refuses what is no option', async () => {
  await using scheduler = createScheduler({ shards: 0, capacity: 1024 });
  const refused = (options: unknown) => expect(scheduler.stats(options as StatsOptions)).rejects;
  for (const options of [null, 1, 'x']) await refused(options).toThrow(InvalidArgumentError);
  for (const timeout of [0, -1, Number.NaN, 60_001, Number.POSITIVE_INFINITY, '5', null]) {
    await refused({ timeout }).toThrow(InvalidConfigError);
  }
  await refused({ timeOut: 5 }).toThrow(/did you mean 'timeout'/);
});
