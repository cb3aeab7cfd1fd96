import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

// What Node does not document may go: then each timeout has an immediate of its own. The module looks for it when it is loaded.
const found = Reflect.get(process, '_tickCallback');
Reflect.deleteProperty(process, '_tickCallback');
const built = new URL('../../dist/src/async-context/run-ticks.js', import.meta.url).href;
const { runTicks } = await import(built);
Reflect.set(process, '_tickCallback', found);

test('the timers of this file run without it', () => {
  expect([runTicks, typeof found]).toEqual([undefined, 'function']);
});

await import('./order.long.test.ts');
await import('./context.test.ts');

/** Timeouts due at once, as `context:what it does`; what each sees, and what sees its error. */
const program = (module: string, start: string) => `
  import { AsyncLocalStorage } from 'node:async_hooks';
  ${start}
  const { setTimeout } = await import('${module}');
  const storage = new AsyncLocalStorage();
  const log = (...what) => console.log(...what, storage.getStore());
  process.on('uncaughtException', ({ message }) => log('uncaught', message));
  const acts = {
    ok() {},
    throw(name) { throw new Error(name); },
    tick(name) { process.nextTick(() => { throw new Error(name); }); },
    order(name) {
      Promise.resolve().then(() => { log(name, 'microtask'); process.nextTick(log, name, 'tick of a microtask'); });
      process.nextTick(() => { log(name, 'tick'); queueMicrotask(() => log(name, 'microtask of a tick')); });
    },
    clear() { clearTimeout(set['A:cleared 1']); process.nextTick(() => set['A:cleared 2'].close()); },
  };
  const { clearTimeout } = await import('${module}');
  const set = {};
  for (const name of ['-:order 1', 'A:order 2', '-:throw 1', '-:ok 1', 'A:throw 2', 'B:throw 3', 'B:ok 2', '-:ok 3', 'A:tick 1',
                      '-:ok 4', '-:clear 1', 'A:cleared 1', 'A:cleared 2', 'A:throw 4', '-:order 3', '-:tick 2', '-:ok 5']) {
    const [context, act] = name.split(/[: ]/);
    const start = () => {
      set[name] = setTimeout(() => {
        log(name);
        acts[act](name);
      }, 5);
    };
    if (context === '-') start();
    else storage.run(context, start);
  }
  for (const end = performance.now() + 30; performance.now() < end; );
  set.last = setTimeout(() => log('last'), 200);`;

test('errors, contexts, ticks and microtasks are as with it, and as with node:timers', async () => {
  const without = `delete process._tickCallback;`;
  const [node, own, fallback] = await Promise.all([
    runText(program('node:timers', '')),
    runText(program('shardwheel/timers', '')),
    runText(program('shardwheel/timers', without)),
  ]);
  expect(node.stderr).toBe('');
  expect(node.stdout.split('\n').filter((line) => line.startsWith('uncaught')).length).toBe(6);
  expect(own).toEqual(node);
  expect(fallback).toEqual(node);
});
