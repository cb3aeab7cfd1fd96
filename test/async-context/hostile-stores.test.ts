import { expect, test } from 'vitest';
import { runModule } from '../fixtures/child-process.ts';

const stores = [
  ['a proxy', 'proxy'],
  ['an object that inherits from a proxy', 'Object.create(proxy)'],
  ['an instance of a class with a proxy in its chain', 'new (class Sub extends makeBase(proxy) {})()'],
];

/** Contexts of other forms, which are told apart from those of the store. */
const besides = [
  ['alone', ''],
  ['beside contexts of two storages', `other.run(1, () => storage.run(2, () => timers.setTimeout(() => {}, 1)));`],
  [
    'beside timers that were set while async hooks were on',
    `const hook = createHook({ init() {} }).enable(); timers.setTimeout(() => {}, 1); hook.disable();`,
  ],
];

const cases = stores.flatMap(([what, store]) => besides.map(([where, beside]) => [what, where, store, beside]));

test.each(cases)('a store that is %s, revoked before the timers fire, keeps none of them: %s', async (...given) => {
  const [, , store, beside] = given;
  const { code, stdout, stderr } = await runModule(
    `import { AsyncLocalStorage, createHook } from 'node:async_hooks';
     const { createTimers } = await import('./lib/timers.js');
     const scheduler = createScheduler({ shards });
     const timers = createTimers(scheduler);
     const storage = new AsyncLocalStorage(), other = new AsyncLocalStorage();
     const traps = [];
     const handler = new Proxy({}, { get: (_, trap) => void traps.push(trap) });
     const { proxy, revoke } = Proxy.revocable({}, handler);
     const makeBase = (proxy) => { const Base = class {}; Object.setPrototypeOf(Base.prototype, proxy); return Base; };
     const store = ${store};
     const seen = [];
     const note = (what) => () => seen.push([what, storage.getStore() === store]);
     storage.run({ first: true }, () => timers.setTimeout(() => {}, 1));
     ${beside}
     traps.length = 0;
     storage.run(store, () => timers.setTimeout(note('not yet revoked'), 1));
     await new Promise((resolve) => setTimeout(resolve, 20));
     const before = [...traps];
     const awaited = storage.run(store, () => {
       timers.setTimeout(note('drop-in'), 5);
       scheduler.scheduleAfter(1, 5, note('scheduled'));
       return Promise.all([timers.promises.setTimeout(5).then(note('promise')), scheduler.sleep(5).then(note('sleep'))]);
     });
     revoke();
     storage.run(store, () => timers.setTimeout(note('later'), 5));
     await awaited;
     await new Promise((resolve) => setTimeout(resolve, 50));
     console.log(JSON.stringify({ traps: before, seen: seen.sort() }));
     await scheduler.close();`,
    0,
  );
  const kinds = ['drop-in', 'later', 'not yet revoked', 'promise', 'scheduled', 'sleep'];
  expect({ code, found: JSON.parse(stdout || '{}'), stderr }).toEqual({
    code: 0,
    found: { traps: [], seen: kinds.map((kind) => [kind, true]) },
    stderr: '',
  });
});
