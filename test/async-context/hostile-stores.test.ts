import { expect, test } from 'vitest';
import { runModule } from '../fixtures/child-process.ts';

test('a store that is a proxy, revoked before the timers fire, keeps none of them', async () => {
  const { code, stdout, stderr } = await runModule(
    `import { AsyncLocalStorage } from 'node:async_hooks';
     const { createTimers } = await import('./lib/timers.js');
     const scheduler = createScheduler({ shards });
     const timers = createTimers(scheduler);
     const storage = new AsyncLocalStorage();
     const { proxy, revoke } = Proxy.revocable({}, {});
     const seen = [];
     const note = (what) => () => seen.push([what, storage.getStore() === proxy]);
     const awaited = storage.run(proxy, () => {
       timers.setTimeout(note('drop-in'), 5);
       scheduler.scheduleAfter(1, 5, note('scheduled'));
       return Promise.all([timers.promises.setTimeout(5).then(note('promise')), scheduler.sleep(5).then(note('sleep'))]);
     });
     revoke();
     storage.run(proxy, () => timers.setTimeout(note('later'), 5));
     await awaited;
     await new Promise((resolve) => setTimeout(resolve, 50));
     console.log(JSON.stringify(seen.sort()));
     await scheduler.close();`,
    0,
  );
  const kinds = ['drop-in', 'later', 'promise', 'scheduled', 'sleep'];
  expect({ code, seen: JSON.parse(stdout || '[]'), stderr }).toEqual({
    code: 0,
    seen: kinds.map((kind) => [kind, true]),
    stderr: '',
  });
});
