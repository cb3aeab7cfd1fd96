// Connects to a shared scheduler, and stands still before its n-th access to shared memory, or channel, until it may go
// on. Then it has a timer, and says what has become of that.

import * as threads from 'node:worker_threads';
import { parentPort, workerData } from 'node:worker_threads';
import { connectScheduler } from '../../lib/index.js';

const { handle, gate, at } = workerData;
const words = new Int32Array(gate);
const { load, store, notify, wait } = Atomics;
const own = { ...Object.fromEntries(Object.getOwnPropertyNames(Atomics).map((name) => [name, Atomics[name]])) };
const { BroadcastChannel } = threads;

let steps = 0;
function step() {
  steps += 1;
  if (steps !== at) return;
  store(words, 0, 1);
  notify(words, 0);
  while (load(words, 1) === 0) wait(words, 1, 0, 1000);
}

for (const name of ['load', 'store', 'add', 'sub', 'exchange', 'compareExchange', 'waitAsync', 'notify']) {
  Atomics[name] = (...given) => {
    step();
    return own[name](...given);
  };
}
process.getBuiltinModule('node:worker_threads').BroadcastChannel = class extends BroadcastChannel {
  constructor(name) {
    step();
    super(name);
  }
};

const hold = setInterval(() => undefined, 1000);
let outcome;
try {
  const scheduler = connectScheduler(handle);
  Object.assign(Atomics, own);
  const fired = new Promise((resolve) => scheduler.scheduleAfter('a', 20, resolve, 'fired'));
  let limit;
  const lost = new Promise((resolve) => {
    limit = setTimeout(resolve, 5000, 'lost');
  });
  outcome = await Promise.race([fired, lost]);
  clearTimeout(limit);
  await scheduler.close();
} catch (error) {
  outcome = error.code ?? String(error);
}
Object.assign(Atomics, own);
clearInterval(hold);
parentPort.postMessage({ outcome, steps });
