import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { BroadcastChannel } from 'node:worker_threads';
import { FunctionCoverage } from './function-coverage.mjs';

/** Times that each case is measured, and at most while the shallowest has not come three times. */
const ROUNDS = 15;
const MAX_ROUNDS = 90;
/** The same for single calls, which do not depend on the clock. */
const ROUNDS_OF_CALLS = 3;
/**
 * ms from the call that sets a timer to its deadline. So short that a thread sleeps in one way, see SHORT_WAIT of its
 * loop.
 */
const DELAY = 20;
/** ms before a timer is due: its command has been published to the thread some ms earlier. */
const AFTER_PUBLICATION = 2;
/** ms after a callback until the loop is idle again: what its turn has asked for has come. */
const IDLE_AFTER = 30;
/** ms after which the loop is at rest: the turns that were asked for have come. */
const FILED_AFTER = 400;

/** Timers that live beside the measured one, so that it neither begins nor ends the hold on the process. */
const OTHERS = 100;
const FAR = 100_000;
const nothing = () => {};

/**
 * Measures each case in a program that has done it before. Returns for each, by name, the functions that have run in a
 * shallow round: others hold what the clock adds by chance, as a turn that came a tick early, or the turn of a wheel's
 * slot.
 *
 * `root`: URL of a checkout, with a slash at the end. `kind`: 'dist' or 'lib'.
 */
export async function measureDepth(root, kind) {
  const folder = `${root}${kind}/`;
  const entry = (name) => import(`${folder}${kind === 'dist' ? 'src/entries/' : ''}${name}.js`);
  const { createScheduler } = await entry('index');
  const { setTimeout } = await entry('timers');
  const coverage = new FunctionCoverage(folder);
  const inline = createScheduler({ shards: 0 });
  await fill(inline);
  const calls = await depthOfCalls(inline, coverage);
  const deliveries = await depthOfDeliveries(inline, coverage);
  await inline.close();
  const thread = await depthWithThread(createScheduler, folder, coverage);
  const dropIn = await depthOfDropIn(setTimeout, coverage);
  return { ...calls, ...deliveries, ...thread, ...dropIn };
}

/** The shallowest that has come three times: a round may also miss a turn, which came after it on a busy machine. */
function shallowest(rounds) {
  const sorted = rounds.toSorted((one, other) => one.length - other.length);
  return sorted.find(({ length }, at) => sorted[at + 2]?.length === length) ?? sorted[0];
}

/** Whether the least has come three times. What the machine held back, in an empty round, does not count. */
function isSettled(rounds) {
  const lengths = rounds.map(({ length }) => length).filter((length) => length > 0);
  const least = Math.min(...lengths);
  return lengths.filter((length) => length === least).length >= 3;
}

/** `others`: what `measure` notes of each round beside its result; it goes on until they are settled as well. */
async function shallowestOf(measure, ...others) {
  const rounds = [];
  const isDone = () => rounds.length >= ROUNDS && [rounds, ...others].every(isSettled);
  while (rounds.length < MAX_ROUNDS && !isDone()) rounds.push(await measure());
  return shallowest(rounds);
}

/** Only the call itself, which must be synchronous. */
function during(coverage, call) {
  coverage.take();
  call();
  return coverage.take();
}

/**
 * From so many ms before a timer is due until the loop is idle again. `set` sets one. Not where the machine was busy,
 * and the turn has begun. `before` gets what has run in the ms before that, from half of the delay on.
 */
async function delivery(coverage, set, ahead = DELAY / 2, before = nothing) {
  for (;;) {
    const due = performance.now() + DELAY;
    let isFired = false;
    const firing = new Promise((resolve) => {
      set(() => {
        isFired = true;
        resolve();
      }, DELAY);
    });
    await sleep(DELAY / 2);
    const isEarly = !isFired && performance.now() < due - DELAY / 4;
    coverage.take();
    while (performance.now() < due - ahead) await nextTurn();
    const isBefore = isEarly && !isFired && performance.now() < due - ahead / 2;
    if (isBefore) before(coverage.take());
    else coverage.take();
    await firing;
    await sleep(IDLE_AFTER);
    if (isBefore) return coverage.take();
  }
}

async function fill(scheduler) {
  await scheduler.ready;
  for (let at = 0; at < OTHERS; at++) scheduler.scheduleAfter(at, FAR + 10 * at, nothing);
  await sleep(FILED_AFTER);
}

/**
 * Each call twice: `-idle` in a client that is at rest, else in one that has just had another call.
 * Each timer takes a slot that was never used.
 */
async function depthOfCalls(scheduler, coverage) {
  let id;
  const schedule = () => {
    id = scheduler.scheduleAfter(6, FAR, nothing);
  };
  const calls = { schedule, move: () => scheduler.reschedule(id, 2 * FAR), cancel: () => scheduler.cancel(id) };
  const measured = [];
  for (let round = 0; round < ROUNDS_OF_CALLS; round++) {
    schedule(); // in the slot of the last one
    for (const [name, call] of Object.entries(calls)) {
      await sleep(FILED_AFTER);
      measured.push([`${name}-idle`, during(coverage, call)]);
    }
    schedule();
    for (const [name, call] of Object.entries(calls)) measured.push([name, during(coverage, call)]);
  }
  const roundsOf = (named) => measured.filter(([name]) => name === named).map(([, ran]) => ran);
  return Object.fromEntries(measured.map(([name]) => [name, shallowest(roundsOf(name))]));
}

async function depthOfDeliveries(scheduler, coverage) {
  const set = (callback, delay) => scheduler.scheduleAfter(7, delay, callback);
  await delivery(coverage, set);
  const inline = await shallowestOf(() => delivery(coverage, set));
  let called = nothing;
  const setNext = (callback) => {
    called = callback;
  };
  const id = scheduler.scheduleEvery(8, DELAY + IDLE_AFTER, () => called());
  await delivery(coverage, setNext); // from where it ends the next call is due after a delay
  const repeating = await shallowestOf(() => delivery(coverage, setNext));
  scheduler.cancel(id);
  return { inline, repeating };
}

/** Both sides of a delivery. The thread runs the modules of `dist` only if it is told where. */
async function depthWithThread(createScheduler, folder, coverage) {
  const name = `depth of ${process.pid}`;
  const told = new BroadcastChannel(name);
  const turns = [];
  told.onmessage = ({ data }) => turns.push(data);
  const scheduler = createScheduler({
    shards: 1,
    thread: {
      execArgv: ['--import', new URL('thread-coverage.mjs', import.meta.url).href],
      env: { SHARDWHEEL_COVERED: folder, SHARDWHEEL_CHANNEL: name },
      workerUrl: folder.endsWith('/dist/') ? new URL('workers/shard.js', folder) : undefined,
    },
  });
  await fill(scheduler);
  let inThread = [];
  let takenAt = 0n;
  const both = {
    take: () => {
      inThread = together(turns.splice(0).filter(({ begun }) => begun > takenAt)); // others were told late
      takenAt = process.hrtime.bigint();
      return coverage.take();
    },
  };
  const threads = [];
  const publications = [];
  const set = (callback, delay) => scheduler.scheduleAfter(7, delay, callback);
  const deliver = async () => {
    const ran = await delivery(both, set, AFTER_PUBLICATION, (published) => publications.push(published));
    threads.push(inThread);
    return ran;
  };
  const client = await shallowestOf(deliver, threads, publications);
  told.close();
  await scheduler.close();
  const thread = shallowest(threads.filter(({ length }) => length > 0)); // the machine may hold back what is told
  return { publication: shallowest(publications.filter(({ length }) => length > 0)), client, thread };
}

/** What has run in several turns. */
function together(turns) {
  const called = new Map();
  for (const ran of turns.flatMap(({ ran }) => ran)) {
    const key = `${ran.file}:${ran.at}`;
    called.set(key, { ...ran, calls: ran.calls + (called.get(key)?.calls ?? 0) });
  }
  return [...called.values()];
}

async function depthOfDropIn(setTimeout, coverage) {
  for (let at = 0; at < OTHERS; at++) setTimeout(nothing, FAR + 10 * at);
  await sleep(FILED_AFTER);
  const setting = await shallowestOf(() => during(coverage, () => setTimeout(nothing, FAR)));
  await sleep(FILED_AFTER);
  const delivered = await shallowestOf(() => delivery(coverage, setTimeout));
  return { 'drop-in-set': setting, 'drop-in': delivered };
}
