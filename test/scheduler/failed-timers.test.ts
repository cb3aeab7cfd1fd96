import type { FailedTimer, Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { manual } from './manual.ts';

const fail = (argument: unknown): never => {
  throw new Error(`of ${argument}`);
};

/** What the scheduler's 'error' listener is told. */
function failures(scheduler: Scheduler): [message: string, timer: FailedTimer | undefined][] {
  const told: [string, FailedTimer | undefined][] = [];
  scheduler.on('error', (error, timer) => told.push([(error as Error).message, timer]));
  return told;
}

describe.each([0, 1])("▲ 'error' tells of which timer, shards %i", (shards) => {
  test('with its id, label, argument and deadline, also where its slot has a new timer', async () => {
    await using scheduler = await manual({ shards });
    const told = failures(scheduler);
    const label = scheduler.label('request');
    const plain = scheduler.schedule('a', 10, fail, 'plain');
    const labelled = label.schedule('a', 11, fail, 'labelled');
    const again = scheduler.schedule('a', 12, fail, 'plain again');
    const started: number[] = [];
    const taken = label.schedule(
      'a',
      13,
      () => {
        for (let i = 0; i < 4; i++) started.push(scheduler.label('other').schedule('a', 500, fail, i));
        throw new Error('of one that starts others');
      },
      'its own',
    );
    await scheduler.advanceTo(20);
    expect(told).toEqual([
      ['of plain', { id: plain, label: undefined, argument: 'plain', deadline: 10 }],
      ['of labelled', { id: labelled, label: 'request', argument: 'labelled', deadline: 11 }],
      ['of plain again', { id: again, label: undefined, argument: 'plain again', deadline: 12 }],
      ['of one that starts others', { id: taken, label: 'request', argument: 'its own', deadline: 13 }],
    ]);
    expect(started.every((id) => scheduler.has(id))).toBe(true);
  });

  test('of a repeating one, with the deadline of the call that has thrown', async () => {
    await using scheduler = await manual({ shards });
    const told = failures(scheduler);
    const id = scheduler.label('beat').scheduleEvery('a', 10, fail, 'beat');
    for (const now of [10, 20, 30]) await scheduler.advanceTo(now);
    expect(told.map(([, timer]) => timer)).toEqual(
      [10, 20, 30].map((deadline) => ({ id, label: 'beat', argument: 'beat', deadline })),
    );
    expect(scheduler.has(id)).toBe(true);
  });

  test("an error that is of no timer's callback comes alone", async () => {
    await using scheduler = await manual({ shards });
    const told: unknown[][] = [];
    scheduler.on('error', (...given) => told.push(given));
    scheduler.on('fired', () => fail('a listener'));
    scheduler.schedule('a', 10);
    await scheduler.advanceTo(20);
    expect(told.map(({ length }) => length)).toEqual([1]);
  });
});
