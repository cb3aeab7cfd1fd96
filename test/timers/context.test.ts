import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { subjects } from './subjects.ts';

const storage = new AsyncLocalStorage<string>();

test.each(subjects)('$name: callbacks run in the context of the call that set them', async ({ timers }) => {
  const seen: Record<string, unknown> = {};
  const note = (what: string) => {
    seen[what] = storage.getStore();
  };
  const run = <R>(name: string, call: () => R): R => storage.run(name, call);
  timers.setTimeout(note, 5, 'outside');
  run('one', () => timers.setTimeout(note, 5, 'timeout'));
  run('two', () => timers.setImmediate(note, 'immediate'));
  const fired = run('three', () => timers.setTimeout(note, 1, 'refreshed when it had fired'));
  const live = run('five', () => timers.setTimeout(note, 5, 'refreshed while live'));
  run('six', () => live.refresh());
  const looping = run('seven', () => {
    let count = 0;
    return timers.setTimeout(() => {
      count += 1;
      note(`loop ${count}`);
      if (count < 3) run('eight', () => looping.refresh());
    }, 1);
  });
  timers.setImmediate(() => {
    storage.enterWith('eleven');
    timers.setTimeout(note, 1, 'set where it was entered');
  });
  const sleeping = run('nine', () => timers.promises.setTimeout(1).then(() => note('promise')));
  let calls = 0;
  await run(
    'ten',
    () =>
      new Promise<void>((resolve) => {
        const interval = timers.setInterval(() => {
          calls += 1;
          note(`interval ${calls}`);
          storage.enterWith('entered by a call');
          if (calls < 2) return;
          interval.close();
          resolve();
        }, 1);
      }),
  );
  await sleeping;
  for (let i = 0; i < 3; i++) await timers.promises.setTimeout(20);
  expect(seen['refreshed when it had fired']).toBe('three');
  run('four', () => fired.refresh());
  await timers.promises.setTimeout(20);
  expect(seen).toEqual({
    outside: undefined,
    timeout: 'one',
    immediate: 'two',
    'refreshed when it had fired': 'four',
    'refreshed while live': 'five',
    'loop 1': 'seven',
    'loop 2': 'seven',
    'loop 3': 'seven',
    promise: 'nine',
    'set where it was entered': 'eleven',
    'interval 1': 'ten',
    // Where contexts stand on async hooks, a resource keeps what is entered in it.
    'interval 2': '_enable' in AsyncLocalStorage.prototype ? 'entered by a call' : 'ten',
  });
});
