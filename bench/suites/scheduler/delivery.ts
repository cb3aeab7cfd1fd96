import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createScheduler } from 'shardwheel';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import type { Measurement, Scale, SubjectEntry, Suite } from '../../engine/suite.ts';
import { xorshift } from '../../replay/xorshift.ts';
import { cpuEach } from './paced-suite.ts';
import { perSecond, rest } from './per-second.ts';
import { DRIVER, NODE, nodeEntry } from './subjects.ts';

interface Deliverer {
  /** Sets a timer that counts when it fires. */
  set(timer: number, delay: number): void;
  /** Resolves with how many have not fired. */
  close(): Promise<number>;
}

/** Timers that come due per second. */
const RATE = 100_000;
const SECONDS = 3;
/** Delays are uniform over this, s; the first second after all are set is not measured, nor the last. */
const SPAN = SECONDS + 2;
const BATCH = ', batch';
const PREPARE = 10_000;

const subjects: readonly SubjectEntry[] = [
  { name: DRIVER, note: 'a process that waits' },
  { ...nodeEntry, note: 'setTimeout with an argument' },
  ...[0, 1, 2].flatMap((shards) => [
    { name: `shards ${shards}`, note: 'a callback with a number for its argument' },
    { name: `shards ${shards}${BATCH}`, note: "neither: 'fired' batches" },
  ]),
];

/**
 * (o) What a timer costs that was set in advance, with a callback and in a batch. Suite `rates` has those that set one
 * another.
 */
export const delivery: Suite = {
  name: 'delivery dense',
  title: `Delivery: ${RATE.toLocaleString('en-US')} timers per second come due`,
  codes: ['o'],
  about:
    `Timers due at times uniform over ${SPAN} s, and nothing else to do: what one that fires costs, over ${SECONDS} s. ` +
    'Wakes are how often a thread of the process went to sleep.',
  base: NODE,
  idle: DRIVER,
  subjects,
  figures: [...cpuEach, { key: 'wakes', title: 'wakes of all threads', unit: 'per ms' }],
  run: (subject, scale) => measure(subject, scale.quick ? 2000 : RATE, scale),
};

async function measure(name: string, rate: number, scale: Scale): Promise<Measurement> {
  const span = scale.quick ? 200 : SPAN * 1000;
  const count = Math.round((rate * span) / 1000);
  let fired = 0;
  const deliverer = await delivererFor(name, (timers) => {
    fired += timers;
  });
  let random = SEED;
  for (let timer = 0; timer < count; ) {
    for (const end = Math.min(timer + PREPARE, count); timer < end; timer++) {
      random = xorshift(random);
      deliverer.set(timer, 1 + scaled(random, scaleFor(span)));
    }
    await nextTurn();
  }
  await sleep(span / SPAN);
  const before = fired;
  const begun = performance.now();
  const used = await perSecond(() => rest((span * SECONDS) / SPAN));
  const firedPerSecond = name === DRIVER ? rate : ((fired - before) * 1000) / (performance.now() - begun);
  const left = await deliverer.close();
  if (name !== DRIVER && fired + left !== count)
    throw new Error(`of ${count} timers ${fired} fired, ${left} were left`);
  const figures = {
    loop: (used.loop * 1e6) / firedPerSecond,
    process: (used.process * 1e6) / firedPerSecond,
    wakes: used.wakes / 1000,
  };
  return { figures, checksums: { timers: count } };
}

async function delivererFor(name: string, onFired: (timers: number) => void): Promise<Deliverer> {
  if (name === DRIVER) return { set() {}, close: async () => 0 };
  if (name === NODE) return nodeDeliverer(onFired);
  const scheduler = createScheduler({ shards: Number.parseInt(name.slice('shards '.length), 10) });
  await scheduler.ready;
  const callback = name.endsWith(BATCH) ? undefined : (_timer: number): void => onFired(1);
  scheduler.on('fired', ({ length }) => onFired(length));
  return {
    set: (timer, delay) => {
      if (callback === undefined) scheduler.scheduleAfter(timer, delay);
      else scheduler.scheduleAfter(timer, delay, callback, timer);
    },
    close: async () => (await scheduler.close()).length,
  };
}

function nodeDeliverer(onFired: (timers: number) => void): Deliverer {
  const timeouts: NodeJS.Timeout[] = [];
  let fired = 0;
  const callback = (_timer: number): void => {
    fired++;
    onFired(1);
  };
  return {
    set: (timer, delay) => timeouts.push(setTimeout(callback, delay, timer)),
    close: async () => {
      for (const timeout of timeouts) clearTimeout(timeout);
      return timeouts.length - fired;
    },
  };
}
