// A process under load on a store: it schedules, moves and cancels timers as fast as the store confirms, delivers,
// fails in odd ways, has its wall clock set, and notes in a file what it has done, each line before anything else
// happens. It may end at any moment. `now` is the same clock for all processes, which nobody sets. Ends at the latest
// with the process that has started it.
//
//     S key deadline    schedule was called                  s key now       it was confirmed
//     M key deadline    reschedule was called                m key now       it was true
//     C key             cancel was called                    c key now       it was true
//     B key now early deadline   a handler has begun         e key now       it is about to resolve
//     r key now         it is about to reject                d key           it has died
//     z ms              so much of a second it had no turn, or no answer of Redis. With BullMQ it may then have lost
//                       locks: they hold for a second and are renewed each quarter, so a late turn and late answers
//                       must come to 750 ms together
import { openSync, writeSync } from 'node:fs';
import { Redis } from 'ioredis';
import { bullmqStore, lmdbStore, openDurableTimers } from '../../../lib/durable.js';

const [kind, where, id, file, mode, persistAfter, parent] = process.argv.slice(2);
const log = openSync(file, 'a');
const now = () => Math.round(performance.timeOrigin + performance.now());
const wall = Date.now;
let shift = 0;
Date.now = () => wall() + shift;

function say(...words) {
  writeSync(log, `${words.join(' ')}\n`);
}

const connection = kind === 'bullmq' ? new Redis(where, { maxRetriesPerRequest: null }) : undefined;
const store =
  connection === undefined
    ? lmdbStore({ path: where })
    : bullmqStore({ connection, queue: 'killed', stalledAfter: 1000 });
const timers = await openDurableTimers({
  store,
  persistAfter: Number(persistAfter),
  retry: { attempts: 100, delay: 20, maxDelay: 100 },
});
timers.on('error', (error) => {
  const recent = saySlow(now()); // the probe may come to it later than whoever ends this process
  say('!', `${error.message} (delays, ms: ${recent.map(({ ms }) => ms).join(' ')})`);
});
timers.on('dead', ({ key }) => say('d', key));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let delays = [];
let probedFrom = now();
function saySlow(at) {
  const recent = [...delays.filter((delay) => delay.at > at - 1000), { at, ms: at - probedFrom - 50 }];
  const ms = recent.reduce((sum, delay) => sum + Math.max(0, delay.ms), 0);
  if (ms > 500) say('z', ms);
  return recent;
}
async function probe() {
  for (;;) {
    probedFrom = now();
    await pause(50);
    await connection?.ping();
    delays = saySlow(now());
  }
}
void probe();

const odd = [
  undefined,
  null,
  'text',
  Object.create(null),
  Object.assign(new Error('x'), { name: 'UnrecoverableError', message: {} }),
];
timers.handle('a', async (_, { key, deadline }) => {
  say('B', key, now(), Date.now() < deadline ? 1 : 0, deadline);
  await pause(Math.random() < 0.3 ? 100 : 0);
  const fails = Math.random() < 0.15;
  say(fails ? 'r' : 'e', key, now());
  if (fails) throw odd[Math.floor(Math.random() * odd.length)];
});
say('ready');
setInterval(() => process.ppid === Number(parent) || process.exit(), 1000);

async function schedule(key, deadline) {
  say('S', key, deadline);
  await timers.schedule('a', key, deadline, { key });
  say('s', key, now());
}

let made = 0;
async function client() {
  for (;;) {
    const key = `${id}-${made++}`;
    const deadline = Date.now() + 50 + Math.floor(Math.random() * 600);
    await schedule(key, deadline);
    if (Math.random() < 0.3) await pause(Math.random() * 700);
    const kind = Math.random();
    if (kind < 0.4) {
      say('C', key);
      if (await timers.cancel('a', key)) say('c', key, now());
    } else if (kind < 0.6) {
      await schedule(key, deadline + Math.floor(Math.random() * 300));
    } else if (kind < 0.7) {
      say('M', key, deadline + 300);
      if (await timers.reschedule('a', key, deadline + 300)) say('m', key, now());
    }
    await pause(Math.random() * 10);
  }
}
if (mode === 'load') {
  for (let at = 0; at < 20; at++) client().catch(() => undefined); // the timers were closed
  setInterval(() => {
    shift = Math.random() < 0.2 ? Math.floor(Math.random() * 6000) - 3000 : shift;
  }, 300);
}
process.on('SIGTERM', async () => {
  await timers.close(mode === 'load' ? { within: 20 } : {}).catch((error) => say('!', error.message));
  say('closed', now());
  process.exit();
});
