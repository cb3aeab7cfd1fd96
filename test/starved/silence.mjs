// Measures how long a shard's heartbeat is silent while a turn is due: node silence.mjs <timers> <seconds> [busy processes].
// A thread of higher priority looks every ms. It also counts the alarms that watchdogs would have given which look four times
// within a limit and are never late themselves, as `hangTimeout` states it: nothing added for slots, nothing learnt.
import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createScheduler } from '../../dist/src/entries/index.js';
import { Doorbell } from '../../dist/src/lane/doorbell.js';
import { Heartbeat } from '../../dist/src/lane/heartbeat.js';
import { internalsOf } from '../../dist/src/scheduler/internals.js';
import { SharedClock } from '../../dist/src/time/shared-clock.js';
import { pass } from './ledger.mjs';

const LIMITS = [20, 50, 100, 200, 400, 800, 1600, 3200, 5000];
const CHECKS = 4;
const now = () => performance.now();
const round = (value, digits = 1) => Number(value.toFixed(digits));

if (isMainThread) await measure();
else watch();

async function measure() {
  const [timers, seconds, busy = 0] = process.argv.slice(2).map(Number);
  if (busy > 0) setPriority(19); // and so that of each thread that this one makes
  const scheduler = createScheduler({ shards: 1, thread: { hangTimeout: Number.POSITIVE_INFINITY } });
  await scheduler.ready;
  // Most come down a level or two of the wheel within the measurement; few fire.
  const spread = Math.max(120, 2 * seconds) * 1000;
  for (let i = 0; i < timers; i++) {
    scheduler.scheduleAfter(i, 20_000 + Math.random() * spread);
    if (i % 20_000 === 0) await pass(0);
  }
  const others = keepBusy(busy, 2 * seconds + 60);
  await pass(2000);
  const { heartbeat, doorbell, clock } = internalsOf(scheduler).coordinator.keepers[0].setup;
  const watcher = new Worker(new URL(import.meta.url), { workerData: { heartbeat, doorbell, clock, seconds } });
  const result = new Promise((resolve) => watcher.once('message', resolve));
  const [from, cpu] = [now(), process.cpuUsage()];
  const scheduled = await keepScheduling(
    scheduler,
    result.then(() => true),
  );
  const { user, system } = process.cpuUsage(cpu);
  const cores = round((user + system) / 1000 / (now() - from), 2);
  const live = scheduler.size;
  await scheduler.close();
  const starts = await timesOfStart(5);
  process.stdout.write(`${JSON.stringify({ timers, live, busy, scheduled, cores, ...(await result), starts })}\n`);
  for (const other of others) other.kill('SIGKILL');
}

function keepBusy(count, seconds) {
  const file = fileURLToPath(new URL('busy.mjs', import.meta.url));
  const others = Array.from({ length: count }, () =>
    spawn(process.execPath, [file, `${seconds}`], { stdio: 'ignore' }),
  );
  for (const { pid } of others) setPriority(pid, 0);
  process.on('exit', () => {
    for (const other of others) other.kill('SIGKILL');
  });
  return others;
}

async function keepScheduling(scheduler, isOver) {
  const ids = [];
  for (let over = false; !over; over = await Promise.race([isOver, pass(10)])) {
    for (let i = 0; i < 50; i++) ids.push(scheduler.scheduleAfter(i, Math.random() * 500));
    for (let i = Math.max(0, ids.length - 500); i < ids.length - 450; i += 2) scheduler.cancel(ids[i]);
  }
  return ids.length;
}

/** ms that a thread takes to be up: `hangTimeout` times 4 must be more. */
async function timesOfStart(count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const from = now();
    const scheduler = createScheduler({ shards: 1, capacity: 1000, thread: { hangTimeout: Number.POSITIVE_INFINITY } });
    await scheduler.ready;
    times.push(Math.round(now() - from));
    await scheduler.close();
  }
  return times;
}

function watch() {
  const { heartbeat, doorbell, clock, seconds } = workerData;
  const [heart, bell, time] = [new Heartbeat(heartbeat), new Doorbell(doorbell), new SharedClock(clock)];
  let isFirst = true;
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').pop()), -20);
  } catch {
    isFirst = false; // only the superuser may
  }
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const silences = [];
  const dogs = LIMITS.map((limit) => ({ limit, next: 0, beats: 0, looks: 0, alarms: 0 }));
  const isDue = () => bell.isTurnDue(heart.heard(), Math.floor(time.exact()));
  const begin = now();
  let [beats, since, longestLook, before] = [heart.beats(), undefined, 0, begin];
  for (let moment = begin; moment - begin < seconds * 1000; moment = now()) {
    longestLook = Math.max(longestLook, moment - before);
    before = moment;
    const present = heart.beats();
    const due = present === beats && isDue();
    if (!due && since !== undefined) {
      silences.push(moment - since);
      since = undefined;
    }
    if (due) since ??= moment;
    beats = present;
    for (const dog of dogs) {
      if (moment < dog.next) continue;
      dog.next = moment + dog.limit / CHECKS;
      dog.looks = dog.beats === present && due ? dog.looks + 1 : 0;
      dog.beats = present;
      if (dog.looks < CHECKS) continue;
      dog.alarms += 1;
      dog.looks = 0;
    }
    Atomics.wait(cell, 0, 0, 1);
  }
  if (since !== undefined) silences.push(now() - since);
  silences.sort((a, b) => a - b);
  const at = (share) => round(silences[Math.floor(share * (silences.length - 1))] ?? 0);
  parentPort.postMessage({
    silences: { count: silences.length, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) },
    longestLook: Math.round(longestLook),
    isFirst,
    alarms: Object.fromEntries(dogs.map(({ limit, alarms }) => [limit, alarms])),
  });
}
