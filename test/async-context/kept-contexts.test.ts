import { AsyncLocalStorage } from 'node:async_hooks';
import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

describe.each([0, 1])('async context: shards %i', (shards) => {
  test('a callback runs in the context of the call that scheduled it, and what it enters stays its own', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 1024 });
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const note = (argument: unknown) => seen.push([argument, storage.getStore()]);
    scheduler.schedule('a', 10, note, 'outside');
    storage.run('first', () => {
      scheduler.schedule('a', 10, () => storage.enterWith('entered'));
      scheduler.schedule('a', 10, note, 'inside');
    });
    const moved = storage.run('second', () => scheduler.scheduleAfter('a', 5, note, 'moved'));
    storage.run('third', () => scheduler.reschedule(moved, 20));
    await storage.run('fourth', async () => {
      await null;
      scheduler.schedule('a', 15, note, 'after an await');
    });
    await storage.run('of the test', () => scheduler.advanceTo(30));
    expect(seen).toEqual([
      ['outside', undefined],
      ['inside', 'first'],
      ['after an await', 'fourth'],
      ['moved', 'second'],
    ]);
  });
});

// Where contexts are frames, one storage is remembered: the first.
const isByHooks = '_enable' in AsyncLocalStorage.prototype;

test.runIf(isByHooks)(
  'a storage that is disabled can be collected, though timers were set in its contexts',
  async () => {
    const { stdout } = await runText(
      `import { AsyncLocalStorage } from 'node:async_hooks';
     import { createScheduler, createTimers } from 'shardwheel';
     const scheduler = createScheduler({ shards: 0 }), { setTimeout } = createTimers(scheduler);
     let storage = new AsyncLocalStorage();
     const weak = new WeakRef(storage);
     storage.run('store', () => { setTimeout(() => {}, 5); scheduler.scheduleAfter(1, 5, () => {}); });
     storage.run('other', () => setTimeout(() => {}, 5));
     await new Promise((resolve) => setTimeout(resolve, 30));
     storage.disable();
     storage = undefined;
     for (let i = 0; i < 5 && weak.deref() !== undefined; i++) { await new Promise((resolve) => setTimeout(resolve, 20)); gc(); }
     console.log(weak.deref() === undefined);
     await scheduler.close();`,
      ['--expose-gc'],
    );
    expect(stdout).toBe('true\n');
  },
);
