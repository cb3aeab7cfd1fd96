// One of several callbacks of a turn enters a context by `enterWith`, in the program's first use of any storage. Prints
// which store each place sees. The arguments: whose timers they are, and how the context is entered.
import { AsyncLocalStorage } from 'node:async_hooks';

const [face, how] = process.argv.slice(2);
const { setTimeout: native } = globalThis;
const faces = {
  node: async () => native,
  'drop-in': async () => (await import('shardwheel/timers')).setTimeout,
  scheduler: async () => {
    const { createScheduler } = await import('shardwheel');
    const scheduler = createScheduler({ shards: 0 });
    return (callback, delay) => scheduler.scheduleAfter(1, delay, callback);
  },
};
const setOn = await faces[face]();
let pending = 0;
const set = (callback, delay) => {
  pending += 1;
  return setOn(() => {
    pending -= 1;
    callback();
  }, delay);
};
const storage = new AsyncLocalStorage();
const enter = () => storage.enterWith('entered');
const ways = {
  'in the callback': enter,
  'in a tick': () => process.nextTick(enter),
  'in a microtask': () => queueMicrotask(enter),
  'in a reaction': () => void Promise.resolve().then(enter),
  'after an await': async () => {
    await undefined;
    enter();
  },
  'and throws': () => {
    enter();
    throw new Error('thrown by the entering callback');
  },
};
process.on('uncaughtException', () => see('its error'));

const seen = {};
const see = (place) => {
  seen[place] ??= [];
  const store = String(storage.getStore());
  if (!seen[place].includes(store)) seen[place].push(store);
};
const ENTERING = 2;
for (let at = 0; at < 6; at++) {
  set(() => {
    if (at === ENTERING) {
      set(() => see('a timer of the entering callback, set before'), 10);
      ways[how]();
      set(() => see('a timer of the entering callback, set after'), 10);
      return;
    }
    const place = at < ENTERING ? 'a callback before' : 'a callback after';
    see(place);
    process.nextTick(() => see(`a tick of ${place}`));
    Promise.resolve().then(() => see(`a reaction of ${place}`));
    setImmediate(() => see(`an immediate of ${place}`));
    set(() => see(`a timer of ${place}`), 10);
  }, 20);
}
const end = performance.now() + 25;
while (performance.now() < end); // so that all are due in one turn
const finish = () => {
  if (pending > 0) {
    native(finish, 20);
    return;
  }
  set(() => {
    see('a later turn');
    process.stdout.write(JSON.stringify(seen));
    process.exit();
  }, 5);
};
native(finish, 100);
