import { setTimeout as sleep } from 'node:timers/promises';
import { allocateDoorbell, ClientBell } from '../../../src/lane/doorbell.ts';
import { buildShard, serveLane } from '../../../src/shard/build-shard.ts';
import { presets } from '../../../src/wheel/presets.ts';
import { spreadOf } from '../../engine/statistics.ts';
import { CpuMeter } from '../../replay/cpu-meter.ts';
import { cpuEach } from './cpu.ts';
import { FAR, FAR_SPAN, TimerLoad } from './timer-load.ts';

/** ms over which the timers that fire are due, and that they are given beside the time that their publication takes. */
export const NEAR_SPAN = 1024;
const LEAD = 250;
const MOST_LEAD = 60_000;

/** By operation: ns of CPU for each of `count` timers, by `shards` threads or inline. */
type Costs<K extends string> = Promise<Record<K, number>>;

async function filled(shards: number, count: number): Promise<TimerLoad> {
  const load = await TimerLoad.warm(shards, count);
  load.schedule(count, FAR, FAR_SPAN);
  await load.published();
  return load;
}

/**
 * The event loop's share while all are scheduled in one go, and the rest until the shard has filed them all. As far as the
 * command ring has room, commands are published on the way.
 */
export async function scheduleAndPublish(shards: number, count: number): Costs<'schedule' | 'publish'> {
  const load = await TimerLoad.warm(shards, count);
  const meter = new CpuMeter();
  let loop = 0;
  const all = await cpuEach(count, async () => {
    meter.start();
    load.schedule(count, FAR, FAR_SPAN);
    loop = (meter.read().thread * 1e6) / count;
    await load.published();
  });
  await load.close();
  return { schedule: loop, publish: all - loop };
}

/** First an index is built from the table, in the thread that measures; it serves nobody. */
export async function cancelAndRebuild(shards: number, count: number): Costs<'cancel' | 'rebuild'> {
  const load = await filled(shards, count);
  const [built, lane] = shardOf(load);
  let found = 0;
  const rebuild = await cpuEach(count, () => {
    found = serveLane(built, lane, 'tables').found;
  });
  if (found !== count) throw new Error(`${found} of ${count} timers were indexed`);
  const cancel = await cpuEach(count, () => load.cancelAll(count));
  await load.close();
  return { cancel, rebuild };
}

/** Another shard for the lane of a load: all commands have been taken, so nothing of the lane changes by it. */
function shardOf({ client }: TimerLoad) {
  const built = buildShard({
    number: 0,
    tick: 1,
    wheel: presets.default,
    clock: client.clock.memory,
    doorbell: allocateDoorbell(),
  });
  return [built, { memory: client.lanes[0].memory, clientBell: ClientBell.allocate() }] as const;
}

/** All are due when the event loop reads the clock. Throws if one has fired before all were published. */
export async function fire(shards: number, count: number): Promise<number> {
  for (let lead = LEAD + count / 1000; lead < MOST_LEAD; lead *= 2) {
    const load = await TimerLoad.warm(shards, count);
    const due = load.scheduler.now() + lead + NEAR_SPAN;
    load.schedule(count, lead, NEAR_SPAN);
    await load.published();
    const isInTime = load.scheduler.now() < due - NEAR_SPAN;
    await sleep(due - NEAR_SPAN - 20 - load.scheduler.now());
    const each = await cpuEach(count, async () => {
      blockLoop(due - load.scheduler.now());
      await load.until(() => load.fired === count);
    });
    await load.close();
    if (isInTime) return each;
  }
  throw new Error(`${count} timers were not published within ${MOST_LEAD} ms`);
}

/** Until the process has heard of them all: an object for each timer. */
export async function close(shards: number, count: number): Promise<number> {
  for (let time = 0; time < 3; time++) await (await filled(0, 1)).close();
  const load = await filled(shards, count);
  let live = 0;
  const each = await cpuEach(count, async () => {
    live = await load.close();
  });
  if (live !== count) throw new Error(`${live} of ${count} timers were handed back`);
  return each;
}

/** Less the CPU of a thread's start, with a single timer. */
export async function burst(count: number): Promise<number> {
  await (await TimerLoad.warm(1, 1)).close();
  const starts: number[] = [];
  for (let time = 0; time < 3; time++) starts.push(await startWith(1));
  return ((await startWith(count)) - spreadOf(starts).median) / count;
}

/** ns of CPU until all timers are scheduled, the thread is up, and has filed them. */
async function startWith(count: number): Promise<number> {
  const load = new TimerLoad(1, count);
  const cpu = await cpuEach(1, async () => {
    load.schedule(count, FAR, FAR_SPAN);
    await load.until(() => load.isUp);
    await load.published();
  });
  await load.close();
  return cpu;
}

/** Sleeps: the event loop does not turn, and no CPU is used. */
function blockLoop(milliseconds: number): void {
  if (milliseconds > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
