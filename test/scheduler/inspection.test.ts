import assert from 'node:assert';
import { inspect } from 'node:util';
import { createScheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { describe, expect, test } from 'vitest';

describe.each([0, 1, 'auto'] as const)(
  'what others see of public objects, with timers of every kind: shards %s',
  (shards) => {
    test('inspection shows what a user wants to know, at any depth; nothing internal is enumerable', async () => {
      const scheduler = createScheduler({ shards, capacity: 4096 });
      const { setTimeout } = createTimers(scheduler);
      const group = scheduler.group('connection');
      for (let i = 0; i < 100; i++) {
        setTimeout((_: unknown) => undefined, 60_000, scheduler);
        group.scheduleAfter(60_000, () => undefined);
      }
      scheduler.signalAfter(60_000);
      scheduler.on('fired', () => undefined);
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
      const seen = { shards: scheduler.shards, idLayout: scheduler.idLayout };
      expect(Object.keys(scheduler)).toEqual(['shards', 'idLayout']);
      expect([JSON.parse(JSON.stringify(scheduler)), structuredClone(scheduler)]).toEqual([seen, seen]);
      expect([JSON.stringify(group), structuredClone(group)]).toEqual([
        '{"workerHint":"connection"}',
        { workerHint: 'connection' },
      ]);
      expect(scheduler.listenerCount('fired')).toBe(1);
      await scheduler.close();
      expect([inspect(scheduler), inspect(group)]).toEqual([
        expect.stringContaining('isClosed: true'),
        expect.stringContaining('size: 0'),
      ]);
    });

    test('a failing deepStrictEqual says why, in some lines', async () => {
      await using scheduler = createScheduler({ shards, capacity: 4096 });
      await using other = createScheduler({ shards: 3, capacity: 4096 });
      const message = expect.toSatisfy((text: string) => text.length < 2000);
      const failure = expect.objectContaining({ code: 'ERR_ASSERTION', message });
      expect(() => assert.deepStrictEqual(scheduler, other)).toThrow(failure);
      expect(() => assert.deepStrictEqual(scheduler.group(1), other.group(2))).toThrow(failure);
    });
  },
);
