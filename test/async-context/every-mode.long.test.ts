import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

/** How this Node can be told to implement AsyncLocalStorage, beside its default: from Node 24 on that is frames. */
const modes = [[], ['--no-async-context-frame'], ['--experimental-async-context-frame']].filter((flags) =>
  flags.every((flag) => process.allowedNodeEnvironmentFlags.has(flag)),
);

/** A program that lets nobody change what is Node's: nothing can be wired. */
const freezing = `data:text/javascript,
  import { AsyncLocalStorage, createHook } from 'node:async_hooks';
  Object.freeze(AsyncLocalStorage.prototype);
  Object.freeze(Object.getPrototypeOf(createHook({})));`.replaceAll('\n', '');
modes.push(...modes.map((flags) => [...flags, '--import', freezing]));

const preamble = `
  import { AsyncLocalStorage, createHook, executionAsyncResource } from 'node:async_hooks';
  import { createScheduler } from 'shardwheel';
  const one = new AsyncLocalStorage(), two = new AsyncLocalStorage(), seen = [];
  const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 1024 });
  const note = (what) => seen.push([what, one.getStore(), two.getStore()].map(String).join(' '));
  let at = 0;
  const set = (what) => scheduler.schedule(1, ++at, note, what);`;
const finish = `
  await scheduler.advanceTo(1000);
  await scheduler.advanceTo(2000);
  await scheduler.close();
  console.log(JSON.stringify(seen));`;

/** What the programs print, whatever the mode. */
const programs: [name: string, program: string, seen: string[]][] = [
  ['nothing', `set('a');`, ['a undefined undefined']],
  [
    'run, what comes after it, and what came before the first context of the process',
    `set('before'); one.run('x', () => set('a')); set('b'); one.run('y', () => set('c'));`,
    ['before undefined undefined', 'a x undefined', 'b undefined undefined', 'c y undefined'],
  ],
  [
    'nested and several storages',
    `one.run('x', () => { set('a'); two.run('y', () => { set('b'); one.run('z', () => set('c')); set('d'); }); set('e'); });
     two.run('w', () => set('f'));`,
    ['a x undefined', 'b x y', 'c z y', 'd x y', 'e x undefined', 'f undefined w'],
  ],
  [
    'exit',
    `one.run('x', () => two.run('y', () => { one.exit(() => set('a')); set('b'); two.exit(() => set('c')); }));`,
    ['a undefined y', 'b x y', 'c x undefined'],
  ],
  [
    'enterWith, here and in a callback, whose end ends it',
    `set('before'); one.enterWith('x'); set('a'); two.enterWith('y'); set('b');
     scheduler.schedule(1, ++at, () => one.enterWith('lost')); set('c');`,
    ['before undefined undefined', 'a x undefined', 'b x y', 'c x y'],
  ],
  [
    'disable, in the midst of a context',
    `one.run('x', () => { scheduler.schedule(1, ++at, () => {}); one.disable(); set('a'); });
     one.run('z', () => set('b'));`,
    ['a undefined undefined', 'b z undefined'],
  ],
  [
    'stores that look like none',
    `for (const store of [null, 0, '', false, NaN]) one.run(store, () => set('a'));
     one.run(undefined, () => set('b'));`,
    [
      'a null undefined',
      'a 0 undefined',
      'a  undefined',
      'a false undefined',
      'a NaN undefined',
      'b undefined undefined',
    ],
  ],
  [
    'a subclass',
    `class Own extends AsyncLocalStorage { run(...given) { return super.run(...given); } }
     const own = new Own();
     set('before');
     own.run('own', () => scheduler.schedule(1, ++at, () => seen.push(own.getStore())));`,
    ['before undefined undefined', 'own'],
  ],
  [
    'continuations',
    `await one.run('x', async () => { await null; set('a'); await new Promise(setImmediate); set('b'); });
     await new Promise((resolve) => one.run('y', () => setTimeout(() => { set('c'); resolve(); }, 1)));`,
    ['a x undefined', 'b x undefined', 'c y undefined'],
  ],
  [
    'a timer set by a callback',
    `one.run('x', () => scheduler.schedule(1, ++at, () => scheduler.schedule(1, 500, note, 'a')));`,
    ['a x undefined'],
  ],
  [
    'a callback that leaves ticks, microtasks and errors: each has its context, and comes before the next callback',
    `process.on('uncaughtException', (error) => seen.push([error.message, one.getStore()].join(' ')));
     one.run('x', () => scheduler.schedule(1, ++at, () => {
       process.nextTick(() => seen.push('tick ' + one.getStore()));
       queueMicrotask(() => seen.push('microtask ' + one.getStore()));
     }));
     one.run('y', () => scheduler.schedule(1, at, () => { throw new Error('thrown in'); }));
     one.run('z', () => scheduler.schedule(1, at, () => process.nextTick(() => { throw new Error('in a tick of'); })));
     scheduler.schedule(1, at, note, 'a');`,
    ['tick x', 'microtask x', 'thrown in y', 'in a tick of z', 'a undefined undefined'],
  ],
  [
    "an 'error' listener sees the context of the callback that threw",
    `scheduler.on('error', (error) => seen.push([error.message, one.getStore()].join(' ')));
     one.run('x', () => scheduler.schedule(1, ++at, () => { throw new Error('thrown in'); }));
     set('a');`,
    ['thrown in x', 'a undefined undefined'],
  ],
  [
    'contexts kept by hand, with a hook that is enabled late',
    `const KEY = Symbol('kept by hand');
     const hook = createHook({ init(id, type, trigger, resource) { resource[KEY] = executionAsyncResource()[KEY]; } });
     set('before');
     hook.enable();
     await new Promise((resolve) => setImmediate(() => {
       const by = (what) => scheduler.schedule(1, ++at, () => seen.push(what + ' ' + executionAsyncResource()[KEY]));
       executionAsyncResource()[KEY] = 'p'; by('a');
       executionAsyncResource()[KEY] = 'q'; by('b');
       one.run('x', () => scheduler.schedule(1, ++at, () => seen.push([executionAsyncResource()[KEY], one.getStore()].join(' '))));
       resolve();
     }));
     hook.disable();
     one.run('y', () => set('c'));`,
    ['before undefined undefined', 'a p', 'b q', 'q x', 'c y undefined'],
  ],
  [
    "'never' keeps none",
    `const never = createScheduler({ shards: 0, clock: 'manual', capacity: 16, asyncContext: 'never' });
     one.run('x', () => never.schedule(1, 1, note, 'a'));
     await one.run('y', () => never.advanceTo(2));
     await never.close();`,
    ['a undefined undefined'],
  ],
];

describe.each(modes.map((flags) => [flags.join(' ') || 'as it comes', flags] as const))(
  'AsyncLocalStorage, %s',
  (_, flags) => {
    test.concurrent.each(programs)('%s', async (_, program, seen) => {
      const { stdout, stderr } = await runText(preamble + program + finish, flags);
      expect({ seen: JSON.parse(stdout || 'null'), stderr }).toEqual({
        seen,
        stderr: expect.not.stringContaining('Error'),
      });
    });

    const lazily = (set: string): string => `
    import { AsyncLocalStorage } from 'node:async_hooks';
    const one = new AsyncLocalStorage(), two = new AsyncLocalStorage(), seen = [];
    const open = Promise.withResolvers?.() ?? (() => { let resolve; const promise = new Promise((given) => { resolve = given; }); return { promise, resolve }; })();
    let scheduler;
    const note = (what) => seen.push([what, one.getStore(), two.getStore()].map(String).join(' '));
    ${set}
    await scheduler.advanceTo(10);
    await scheduler.close();
    console.log(JSON.stringify(seen));`;
    const load = `const { createScheduler } = await import('shardwheel');
    scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });`;

    test('contexts made before the package was loaded, of storages that are used again, or not', async () => {
      const text = lazily(`
      const first = one.run('early', async () => { await open.promise; scheduler.schedule(1, 1, note, 'a'); });
      const both = two.run('other', () => one.run('too', async () => { await open.promise; scheduler.schedule(1, 2, note, 'b'); }));
      ${load}
      scheduler.schedule(1, 3, note, 'c');
      open.resolve();
      await Promise.all([first, both]);
      two.run('again', () => scheduler.schedule(1, 4, note, 'd'));
      one.run('again', () => scheduler.schedule(1, 5, note, 'e'));`);
      const { stdout } = await runText(text, flags);
      expect(JSON.parse(stdout)).toEqual([
        'a early undefined',
        'b too other',
        'c undefined undefined',
        'd undefined again',
        'e again undefined',
      ]);
    });

    // With nothing wired all that is known outside of contexts is the one in which the package was loaded.
    const isFrozen = flags.includes(freezing);
    test.skipIf(isFrozen)('the package loaded within a context: no other timer gets to see that', async () => {
      const text = lazily(`
      await one.run('loading', async () => { ${load} scheduler.schedule(1, 1, note, 'a'); });
      await one.run(undefined, async () => scheduler.schedule(1, 2, note, 'b'));
      scheduler.on('fired', () => note('batch'));
      scheduler.schedule(1, 3);
      await one.exit(() => scheduler.advanceTo(4));`);
      const { stdout } = await runText(text, flags);
      expect(JSON.parse(stdout)).toEqual(['a loading undefined', 'b undefined undefined', 'batch undefined undefined']);
    });

    test('nothing holds a context but the timers that are live in it, though handles are kept', async () => {
      const { stdout } = await runText(
        `import { AsyncLocalStorage } from 'node:async_hooks';
       import { createScheduler } from 'shardwheel';
       import { clearTimeout, setTimeout } from 'shardwheel/timers';
       import { setTimeout as sleep } from 'node:timers/promises';
       const one = new AsyncLocalStorage(), two = new AsyncLocalStorage(), stores = [], handles = [];
       const make = () => { const store = { large: new Array(1000) }; stores.push(new WeakRef(store)); return store; };
       const scheduler = one.run(make(), () => createScheduler({ shards: 0, capacity: 16 }));
       let ran = 0;
       for (let i = 0; i < 3; i++) one.run(make(), () => two.run(i, () => scheduler.scheduleAfter(1, 5, () => { ran += 1; })));
       one.run(make(), () => { const id = scheduler.scheduleAfter(1, 1e6, () => {}); scheduler.cancel(id); });
       const kept = one.run(make(), () => scheduler.scheduleAfter(1, 1e6, () => {}));
       for (const delay of [1, 1e6, 1e6]) one.run(make(), () => { handles.push(setTimeout(() => {}, delay)); });
       clearTimeout(handles[1]);
       await sleep(40); gc(); await sleep(1); gc();
       const alive = stores.map((store) => store.deref() !== undefined);
       console.log(JSON.stringify({ ran, alive: alive.slice(0, 6), ofHandles: alive.slice(6) }));
       process.exit();`,
        [...flags, '--expose-gc'],
      );
      expect(JSON.parse(stdout)).toEqual({
        ran: 3,
        alive: [false, false, false, false, false, true],
        ofHandles: [false, false, true],
      });
    });

    test('the package runs no ticks of the program that loads it', async () => {
      const { stdout } = await runText(
        `const own = process._tickCallback;
       let calls = 0;
       process._tickCallback = () => { calls += 1; own(); };
       const { createScheduler } = await import('shardwheel');
       await import('shardwheel/timers');
       const before = calls;
       const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
       scheduler.schedule(1, 1, () => {});
       await scheduler.advanceTo(2);
       console.log(before, calls);`,
        flags,
      );
      expect(stdout).toBe('0 1\n');
    });

    test('the context manager of OpenTelemetry', async () => {
      const { stdout } = await runText(
        `import { context, createContextKey } from '@opentelemetry/api';
       import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
       import { createScheduler } from 'shardwheel';
       context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
       const KEY = createContextKey('request'), seen = [];
       const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
       const note = () => seen.push(context.active().getValue(KEY) ?? 'none');
       scheduler.schedule(1, 1, note);
       context.with(context.active().setValue(KEY, 'one'), () => {
         scheduler.schedule(1, 2, note);
         context.with(context.active().setValue(KEY, 'inner'), () => scheduler.schedule(1, 3, note));
         scheduler.schedule(1, 4, context.bind(context.active().setValue(KEY, 'bound'), note));
       });
       await context.with(context.active().setValue(KEY, 'two'), () => scheduler.advanceTo(10));
       await scheduler.close();
       console.log(JSON.stringify(seen));`,
        flags,
      );
      expect(JSON.parse(stdout)).toEqual(['none', 'one', 'inner', 'bound']);
    });
  },
);

test('there are modes to try, and programs', () => {
  expect(modes.length).toBeGreaterThan(0);
  expect(programs.length).toBe(14);
});
