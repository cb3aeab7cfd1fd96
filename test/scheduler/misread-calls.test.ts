import { createScheduler, InvalidConfigError, InvalidDeadlineError, TimeoutError } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { createTimers } from 'shardwheel/timers';
import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

const manual = () => createScheduler({ shards: 0, capacity: 64, clock: 'manual' });

test.each([
  ['createScheduler', 'options.shard', "did you mean 'shards'?", () => createScheduler({ shard: 2 } as never)],
  ['createScheduler', 'options.maxbatch', "did you mean 'maxBatch'?", () => createScheduler({ maxbatch: 2 } as never)],
  ['createScheduler', 'options.threads', /did you mean 'thread'/, () => createScheduler({ threads: 2 } as never)],
  ['label', 'options.mim', "did you mean 'min'?", () => manual().label('a', { mim: 2 } as never)],
  ['signalAfter', 'options.workerhint', "'workerHint'?", () => manual().signalAfter(5, { workerhint: 2 } as never)],
  ['createTimers', 'options.longDelay', "'longDelays'?", () => createTimers(manual(), { longDelay: 'x' } as never)],
])('%s refuses an option that there is not, with the name that was meant: %s', (_, name, remedy, call) => {
  expect(call).toThrow(InvalidConfigError);
  expect(call).toThrow(`${name} is not an option`);
  expect(call).toThrow(remedy);
});

test('so do the calls that return promises', async () => {
  const scheduler = manual();
  const wait = scheduler.withTimeout(Promise.resolve(), 5, { signl: undefined, labl: 5 } as never);
  await expect(wait).rejects.toThrow("options.labl is not an option: did you mean 'label'?, got 5");
  await expect(serveDashboard(scheduler, { Port: 0 } as never)).rejects.toThrow("did you mean 'port'?");
});

test('scheduleAt: never early by the wall clock, wherever timers are started', async () => {
  await using scheduler = createScheduler({ shards: 0, capacity: 64 });
  const starts = [
    (date: Date | number, callback: () => void) => scheduler.scheduleAt(1, date, callback),
    (date: Date | number, callback: () => void) => scheduler.label('a').scheduleAt(1, date, callback),
    (date: Date | number, callback: () => void) => {
      scheduler.rescheduleAt(scheduler.scheduleAfter(1, 1e6, callback), date);
    },
    (date: Date | number, callback: () => void) => scheduler.group(1).scheduleAt(date, callback),
  ];
  for (const start of starts) {
    for (const shape of [(time: number) => new Date(time), (time: number) => time]) {
      const due = Date.now() + 25;
      const fired = await new Promise<number>((resolve) => start(shape(due), () => resolve(Date.now())));
      expect(fired).toBeGreaterThanOrEqual(due);
    }
  }
  expect(() => scheduler.scheduleAt(1, new Date(Number.NaN))).toThrow(InvalidDeadlineError);
  expect(() => scheduler.scheduleAt(1, 'tomorrow' as never)).toThrow(
    "The date must be a valid Date, or ms since 1970, got 'tomorrow'",
  );
});

test('a deadline that is one of Date.now() is warned of, once; others as far are not', async () => {
  const { stderr } = await runText(`
    import { createScheduler } from 'shardwheel';
    const manual = createScheduler({ shards: 0, capacity: 64, clock: 'manual' });
    manual.advanceTo(Date.now());
    manual.schedule(1, Date.now() + 50); // this clock is one of the wall
    const scheduler = createScheduler({ shards: 0, capacity: 64 }).unref();
    scheduler.schedule(1, 1e15);
    scheduler.scheduleAfter(1, 4e11);
    console.error('so far none');
    scheduler.schedule(1, Date.now() + 50);
    scheduler.schedule(1, Date.now() + 50);
    manual.close();`);
  const lines = stderr.trim().split('\n');
  expect(lines[0]).toBe('so far none');
  expect(lines[1]).toMatch(
    /\[SHARDWHEEL_WALL_CLOCK\] Warning: A deadline of \d{13} ms lies 5\d years ahead .* scheduleAt\(hint, date\)/,
  );
  expect(stderr.match(/SHARDWHEEL_WALL_CLOCK/g)).toHaveLength(1);
});

test('there is one TimeoutError, whichever call', async () => {
  await using scheduler = createScheduler({ shards: 0, capacity: 64 });
  const signal = scheduler.signalAfter(5);
  const waited = await scheduler.withTimeout(new Promise(() => undefined), 10).catch((error) => error);
  expect([signal.reason, waited]).toEqual([new TimeoutError(5), new TimeoutError(10)]);
  for (const error of [signal.reason, waited]) {
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ name: 'TimeoutError', code: 'ERR_TIMEOUT' });
  }
});
