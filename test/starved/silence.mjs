// Measures how long a shard's heartbeat is silent while a turn is due: node silence.mjs <timers> <seconds> [busy processes].
// A thread of higher priority looks every ms. It also counts the alarms that watchdogs would have given which look four times
// within a limit and are never late themselves, as `hangTimeout` states it: nothing added for slots, nothing learnt.
import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createScheduler } from '../../dist/src/index.js';
import { Doorbell } from '../../dist/src/lane/doorbell.js';
import { Heartbeat } from '../../dist/src/lane/heartbeat.js';
import { SharedClock } from '../../dist/src/time/shared-clock.js';
import { pass } from './ledger.mjs';

const LIMITS = [20, 50, 100, 200, 400, 800, 1600, 3200, 5000];
const CHECKS = 4;

if (isMainThread) await measure();
else watch();

async function measure() {
  const [timers, seconds, busy = 0] = process.argv.slice(2).map(Number);
  const others = Array.from({ length: busy }, () =>
    spawn(process.execPath, [fileURLToPath(new URL('busy.mjs', import.meta.url)), `${seconds + 120}`], {
      stdio: 'ignore',
    }),
  );
  process.on('exit', () => {
    for (const other of others) other.kill('SIGKILL');
  });
  if (busy > 0) {
    setPriority(19);
    await pass(500);
  }
  const began = performance.now();
  const scheduler = createScheduler({ shards: 1, hangTimeout: Number.POSITIVE_INFINITY });
  await scheduler.ready;
  const started = performance.now() - began;
  const { setup } = scheduler.coordinator.hosts[0];
  // Most come down a level or two of the wheel within the measurement; few fire.
  const spread = Math.max(120, 2 * seconds) * 1000;
  for (let i = 0; i < timers; i++) {
    scheduler.scheduleAfter(i, 20_000 + Math.random() * spread);
    if (i % 20_000 === 0) await pass(0);
  }
  await pass(1000);
  const memory = { heartbeat: setup.heartbeat, doorbell: setup.doorbell, clock: setup.clock };
  const watcher = new Worker(new URL(import.meta.url), { workerData: { ...memory, seconds } });
  const result = new Promise((resolve) => watcher.once('message', resolve));
  const isOver = result.then(() => true);
  const cpu = process.cpuUsage();
  const from = performance.now();
  const ids = [];
  for (let over = false; !over; over = await Promise.race([isOver, pass(10)])) {
    for (let i = 0; i < 50; i++) ids.push(scheduler.scheduleAfter(i, Math.random() * 500));
    for (let i = Math.max(0, ids.length - 500); i < ids.length - 450; i += 2) scheduler.cancel(ids[i]);
  }
  const { user, system } = process.cpuUsage(cpu);
  const share = (user + system) / 1000 / (performance.now() - from);
  const round = (value) => Math.round(value * 10) / 10;
  const { silences, ...rest } = await result;
  const text = {
    timers,
    live: scheduler.size,
    busy,
    scheduled: ids.length,
    cores: Math.round(share * 100) / 100,
    startOfThread: round(started),
  };
  process.stdout.write(`${JSON.stringify({ ...text, ...silences, ...rest })}\n`);
  await scheduler.close();
  for (const other of others) other.kill('SIGKILL');
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
  const begin = performance.now();
  let [beats, since, longestLook, before] = [heart.beats(), undefined, 0, begin];
  for (let now = begin; now - begin < seconds * 1000; now = performance.now()) {
    longestLook = Math.max(longestLook, now - before);
    before = now;
    const present = heart.beats();
    const due = present === beats && isDue();
    if (!due && since !== undefined) {
      silences.push(now - since);
      since = undefined;
    }
    if (due) since ??= now;
    beats = present;
    for (const dog of dogs) {
      if (now < dog.next) continue;
      dog.next = now + dog.limit / CHECKS;
      dog.looks = dog.beats === present && due ? dog.looks + 1 : 0;
      dog.beats = present;
      if (dog.looks < CHECKS) continue;
      dog.alarms += 1;
      dog.looks = 0;
    }
    Atomics.wait(cell, 0, 0, 1);
  }
  if (since !== undefined) silences.push(performance.now() - since);
  silences.sort((a, b) => a - b);
  const at = (share) => Math.round((silences[Math.floor(share * (silences.length - 1))] ?? 0) * 10) / 10;
  parentPort.postMessage({
    silences: { count: silences.length, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) },
    longestLook: Math.round(longestLook),
    isFirst,
    alarms: Object.fromEntries(dogs.map(({ limit, alarms }) => [limit, alarms])),
  });
}
