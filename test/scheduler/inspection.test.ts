import assert from 'node:assert';
import { inspect } from 'node:util';
import { createScheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { describe, expect, test } from 'vitest';

/** A scheduler with timers of every kind, and a group of a hundred. */
function busy(shards: number) {
  const scheduler = createScheduler({ shards, capacity: 4096 });
  const { setTimeout } = createTimers(scheduler);
  const group = scheduler.group('connection');
  for (let i = 0; i < 100; i++) {
    setTimeout((_: unknown) => undefined, 60_000, scheduler);
    group.scheduleAfter(60_000, () => undefined);
  }
  scheduler.signalAfter(60_000);
  scheduler.on('fired', () => undefined);
  return { scheduler, group };
}

describe.each([0, 1, 'auto'] as const)('what others see of public objects: shards %s', (shards) => {
  test('util.inspect shows what a user wants to know, at any depth', async () => {
    const { scheduler, group } = busy(shards as number);
    await scheduler.ready;
    const servedBy = shards === 1 ? 'threads' : 'inline';
    for (const depth of [0, 2, 100, null]) {
      expect(inspect(scheduler, { depth, breakLength: 200 })).toBe(
        `Scheduler { shards: ${scheduler.shards}, size: 201, servedBy: '${servedBy}', isClosed: false }`,
      );
      expect(inspect(group, { depth })).toBe("TimerGroup { workerHint: 'connection', size: 100 }");
    }
    expect(inspect({ a: { b: { c: { scheduler, group } } } })).toContain('[Object]');
    expect(inspect([[[scheduler]]])).toContain('[Scheduler]');
    expect(inspect(scheduler, { colors: true })).toContain('\u001b[');
    await scheduler.close();
    expect(inspect(scheduler)).toContain('isClosed: true');
    expect(inspect(group)).toContain('size: 0');
  });

  test('nothing internal is enumerable', async () => {
    const { scheduler, group } = busy(shards as number);
    const { idLayout } = scheduler;
    expect(Object.keys(scheduler)).toEqual(['shards', 'idLayout']);
    expect(JSON.parse(JSON.stringify(scheduler))).toEqual({ shards: scheduler.shards, idLayout });
    expect(structuredClone(scheduler)).toEqual({ shards: scheduler.shards, idLayout });
    expect(JSON.stringify(group)).toBe('{"workerHint":"connection"}');
    expect(structuredClone(group)).toEqual({ workerHint: 'connection' });
    expect(scheduler.listenerCount('fired')).toBe(1);
    await scheduler.close();
  });

  test('a failing deepStrictEqual says why, in some lines', async () => {
    await using scheduler = createScheduler({ shards: shards as number, capacity: 4096 });
    await using other = createScheduler({ shards: 3, capacity: 4096 });
    for (const [one, two] of [
      [scheduler, other],
      [scheduler.group(1), other.group(2)],
    ]) {
      const message = expect.toSatisfy((text: string) => text.length < 2000);
      expect(() => assert.deepStrictEqual(one, two)).toThrow(
        expect.objectContaining({ code: 'ERR_ASSERTION', message }),
      );
    }
  });
});
