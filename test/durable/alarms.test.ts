import { afterEach, expect, test, vi } from 'vitest';
import { AllocationError } from '../../src/errors.ts';
import type { Claim } from '../../src/extras/durable/stored-timer.ts';
import { AlarmedTimer, Alarms } from '../../src/extras/durable/unstored/alarms.ts';
import { realWallClock } from '../../src/extras/durable/wall-clock.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { until } from '../fixtures/event-loop.ts';

class Held extends AlarmedTimer {
  readonly name = 'a';
  readonly key = 'k';
  delay = 20;
  wakes = 0;

  wake(): void {
    this.wakes += 1;
  }

  claim(): Promise<Claim | undefined> {
    return Promise.resolve(undefined);
  }

  writeEnding(): Promise<boolean> {
    return Promise.resolve(false);
  }
}

afterEach(() => vi.restoreAllMocks());

test.each([
  ['a call', 'returns false, and it is not set'],
  ['a clock that is set', 'it is woken all the same'],
])('a timer that is refused memory when it is moved by %s: %s', async (by) => {
  const scheduler = createScheduler({ shards: 0 });
  const clock = { ...realWallClock, now: () => Date.now() + shift };
  let shift = 0;
  const alarms = new Alarms(scheduler, clock);
  const timer = Object.assign(new Held(alarms), { delay: 3_600_000 });
  alarms.add(() => [timer]);
  expect(alarms.set(timer)).toBe(true);
  const refused = vi.spyOn(Scheduler.prototype, 'rescheduleAfter').mockImplementationOnce(() => {
    throw new AllocationError(5, new RangeError('refused'));
  });
  if (by === 'a call') {
    expect(alarms.set(timer)).toBe(false);
    expect([timer.timerId, scheduler.size]).toEqual([undefined, 0]);
  } else {
    shift = 3_600_000;
    timer.delay = 0;
    await until(() => refused.mock.calls.length > 0);
    await until(() => timer.wakes === 1);
  }
  await scheduler.close();
  await alarms.close();
});

test.each(['cancel', 'close'] as const)(
  'a timer that the program takes from its scheduler by %s is woken all the same, though memory is refused at that moment',
  async (how) => {
    const scheduler = createScheduler({ shards: 0 });
    const alarms = new Alarms(scheduler, realWallClock);
    const timer = new Held(alarms);
    expect(alarms.set(timer)).toBe(true);
    const refused = vi.spyOn(Scheduler.prototype, 'scheduleAfter').mockImplementationOnce(() => {
      throw new AllocationError(5, new RangeError('refused'));
    });
    if (how === 'cancel') expect(scheduler.cancel(timer.timerId as number)).toBe(true);
    else expect(await scheduler.close()).toHaveLength(1);
    expect([refused.mock.calls.length, timer.wakes]).toEqual([1, 0]);
    await until(() => timer.wakes === 1);
    await scheduler.close();
    await alarms.close();
  },
);
