import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';

describe.each([0, 1, 2])('between two deliveries: shards %i', (shards) => {
  const make = () => createScheduler({ shards, clock: 'manual', capacity: 64 });

  test('a scheduler that is closed by a batch listener, or by a tick of it, delivers nothing more', async () => {
    for (const isTick of [false, true]) {
      const scheduler = make();
      await scheduler.ready;
      const seen: unknown[] = [];
      let closing: Promise<{ argument: unknown }[]> | undefined;
      const close = () => {
        closing = scheduler.close();
      };
      scheduler.on('fired', () => (isTick ? process.nextTick(close) : close()));
      scheduler.schedule('a', 5);
      for (let i = 0; i < 3; i++) scheduler.schedule('a', 5, (index) => seen.push(`delivered ${index}`), i);
      await scheduler.advanceTo(10);
      for (const { argument } of (await closing) ?? []) seen.push(`handed back ${argument}`);
      expect(seen).toEqual(['handed back 0', 'handed back 1', 'handed back 2']);
    }
  });

  test("ticks of a batch's listener run before the next callback, whatever shard that is of", async () => {
    await using scheduler = make();
    await scheduler.ready;
    const seen: string[] = [];
    scheduler.on('fired', () => {
      seen.push('batch');
      process.nextTick(() => seen.push('its tick'));
    });
    for (let hint = 0; hint < 8; hint++) {
      scheduler.schedule(hint, 5);
      scheduler.schedule(hint, 6, () => {
        seen.push('callback');
        queueMicrotask(() => seen.push('its microtask'));
      });
    }
    await scheduler.advanceTo(5);
    await scheduler.advanceTo(10);
    for (const [i, what] of seen.entries()) {
      if (what === 'batch') expect(seen[i + 1]).toBe('its tick');
      if (what === 'callback') expect(seen[i + 1]).toBe('its microtask');
    }
    expect(seen.filter((what) => what === 'callback').length).toBe(8);
  });
});
