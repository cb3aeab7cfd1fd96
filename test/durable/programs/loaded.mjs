// A process under load on a store: it schedules, moves and cancels timers as fast as the store confirms, delivers, and notes in a
// file what it has done, each line before anything else happens. It is killed at any moment.
//
//     S key deadline    schedule, or move, was called        s key now    it was confirmed
//     C key             cancel was called                    c key now    it was true
//     B key now         a handler has begun                  e key        it is about to resolve
//     z ms              for so long it had no turn, or no answer of Redis
import { openSync, writeSync } from 'node:fs';
import { Redis } from 'ioredis';
import { bullmqStore, lmdbStore, openDurableTimers } from '../../../lib/durable.js';

const [kind, where, id, file, mode] = process.argv.slice(2);
const log = openSync(file, 'a');

function say(...words) {
  writeSync(log, `${words.join(' ')}\n`);
}

const connection = kind === 'bullmq' ? new Redis(where, { maxRetriesPerRequest: null }) : undefined;
const store =
  connection === undefined
    ? lmdbStore({ path: where })
    : bullmqStore({ connection, queue: 'killed', stalledAfter: 1000 });
const timers = await openDurableTimers({ store, retry: { attempts: 100, delay: 20 } });
timers.on('error', (error) => say('!', error.message));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function probe() {
  for (let before = Date.now(); ; ) {
    await pause(50);
    await connection?.ping();
    const now = Date.now();
    if (now - before > 350) say('z', now - before);
    before = now;
  }
}
void probe();

timers.handle('a', async (_, { key }) => {
  say('B', key, Date.now());
  await pause(Math.random() < 0.3 ? 100 : 0);
  say('e', key);
});
say('ready');

async function schedule(key, deadline) {
  say('S', key, deadline);
  await timers.schedule('a', key, deadline, { key });
  say('s', key, Date.now());
}

let made = 0;
async function client() {
  for (;;) {
    const key = `${id}-${made++}`;
    const deadline = Date.now() + 50 + Math.floor(Math.random() * 600);
    await schedule(key, deadline);
    const kind = Math.random();
    if (kind < 0.4) {
      say('C', key);
      if (await timers.cancel('a', key)) say('c', key, Date.now());
    } else if (kind < 0.6) {
      await schedule(key, deadline + Math.floor(Math.random() * 300));
    }
    await pause(Math.random() * 10);
  }
}
if (mode === 'load') for (let at = 0; at < 20; at++) void client();
if (mode === 'drain') {
  process.on('SIGTERM', async () => {
    await timers.close();
    process.exit();
  });
}
