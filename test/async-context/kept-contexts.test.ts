import { AsyncLocalStorage } from 'node:async_hooks';
import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { runModule, runText } from '../fixtures/child-process.ts';

describe.each([0, 1])('async context: shards %i', (shards) => {
  test('a callback runs in the context of the call that scheduled it', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 1024 });
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const note = (argument: unknown) => seen.push([argument, storage.getStore()]);
    scheduler.schedule('a', 10, note, 'outside');
    storage.run('first', () => scheduler.schedule('a', 10, note, 'inside'));
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

  test('what a callback enters stays its own', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 1024 });
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    storage.run('outer', () => {
      scheduler.schedule('a', 10, () => storage.enterWith('entered'));
      scheduler.schedule('a', 10, () => seen.push(storage.getStore()));
    });
    await scheduler.advanceTo(10);
    expect(seen).toEqual(['outer']);
  });

  test('a callback that throws in a context loses no other timer', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 1024 });
    const errors: unknown[] = [];
    scheduler.on('error', (error) => errors.push(error));
    const seen: unknown[] = [];
    new AsyncLocalStorage<string>().run('any', () => {
      scheduler.schedule('a', 10, () => {
        throw new Error('from a callback');
      });
      scheduler.schedule('a', 10, (argument, id) => seen.push(argument, typeof id), 'next');
    });
    expect(await scheduler.advanceTo(10)).toBe(2);
    expect(errors.map(String)).toEqual(['Error: from a callback']);
    expect(seen).toEqual(['next', 'number']);
  });
});

/** In processes of their own, where nobody has made a context before. */
describe('the first context of a process', () => {
  const preamble = `
    import { AsyncLocalStorage } from 'node:async_hooks';
    const storage = new AsyncLocalStorage(), seen = [];
    const scheduler = createScheduler({ shards, clock: 'manual', capacity: 16 });
    const note = () => seen.push(storage.getStore() ?? 'none');
    scheduler.schedule(1, 1, note);`;
  const finish = `await scheduler.advanceTo(9); console.log(seen.join());`;

  test.each([
    [
      'run',
      `storage.run('run', () => scheduler.schedule(1, 2, note)); scheduler.schedule(1, 3, note);`,
      'none,run,none',
    ],
    ['enterWith', `storage.enterWith('entered'); scheduler.schedule(1, 2, note);`, 'none,entered'],
    [
      'run of a subclass',
      `class Own extends AsyncLocalStorage { run(...given) { return super.run(...given); } }
       const own = new Own(); own.run('own', () => scheduler.schedule(1, 2, () => seen.push(own.getStore())));`,
      'none,own',
    ],
  ])('made by %s is kept', async (_, text, seen) => {
    expect(await runModule(preamble + text + finish, 0)).toEqual({ code: 0, stdout: `${seen}\n`, stderr: '' });
  });

  test('made before the package is loaded, it is kept as well', async () => {
    const text = `
      const { AsyncLocalStorage } = await import('node:async_hooks');
      const storage = new AsyncLocalStorage(), seen = [];
      let scheduler, go;
      const gate = new Promise((resolve) => { go = resolve; });
      const scheduled = storage.run('early', async () => {
        await gate;
        scheduler.schedule(1, 2, () => seen.push(storage.getStore()));
      });
      const { createScheduler } = await import('shardwheel');
      scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
      go();
      await scheduled;
      await scheduler.advanceTo(2);
      console.log(seen.join());`;
    expect(await runText(text)).toEqual({ code: 0, stdout: 'early\n', stderr: '' });
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
