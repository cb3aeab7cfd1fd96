import { createScheduler, InvalidDeadlineError } from 'shardwheel';
import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

test('scheduleAt: never early by the wall clock, wherever timers are started', async () => {
  await using scheduler = createScheduler({ shards: 0, capacity: 64 });
  const starts: ((date: Date | number, callback: () => void) => unknown)[] = [
    (date, callback) => scheduler.scheduleAt(1, date, callback),
    (date, callback) => scheduler.label('a').scheduleAt(1, date, callback),
    (date, callback) => scheduler.rescheduleAt(scheduler.scheduleAfter(1, 1e6, callback), date),
    (date, callback) => scheduler.group(1).scheduleAt(date, callback),
  ];
  for (const start of starts) {
    for (const shape of [(time: number) => new Date(time), (time: number) => time]) {
      const due = Date.now() + 25;
      const fired = await new Promise<number>((resolve) => start(shape(due), () => resolve(Date.now())));
      expect(fired).toBeGreaterThanOrEqual(due);
    }
  }
  expect(() => scheduler.scheduleAt(1, new Date(Number.NaN))).toThrow(InvalidDeadlineError);
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
    /\[SHARDWHEEL_WALL_CLOCK\] ShardwheelWarning: A deadline of \d{13} ms lies 5\d years ahead .* scheduleAt\(hint, date\)/,
  );
  expect(stderr.match(/SHARDWHEEL_WALL_CLOCK/g)).toHaveLength(1);
});
