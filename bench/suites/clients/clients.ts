import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createScheduler } from 'shardwheel';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { EventLoops } from '../../replay/event-loops.ts';
import { mergedLateness } from '../../replay/merged-lateness.ts';
import type { ClientCalls, ClientResult } from './client-load.ts';
import { entries, subjects } from './client-subjects.ts';

/** Of all loops together: live timers, pairs per second, longest delay in ms. */
const LIVE = 100_000;
const RATE = 200_000;
const SPAN = 10_000;
/** Pairs of all loops before anything is measured. */
const WARM_UP = 100_000;
/** ms until shards have caught up with them. */
const REST = 200;
/** Seconds at that rate, before it is measured and then; and unpaced. */
const SETTLE = 0.05;
const PACED = 0.5;
const HURRIED = 0.3;

const NAME = 'clients loops';

/** (j) What further event loops cost, and bring. */
export const clients: Suite = {
  name: NAME,
  title: 'Clients: 1, 2 and 4 event loops on shards that they share',
  codes: ['j', 'clients'],
  about:
    `${LIVE.toLocaleString('en-US')} live and ${RATE.toLocaleString('en-US')} pairs of cancel + scheduleAfter() per second, ` +
    `whatever the number of loops, for ${PACED} s in slices of 1 ms: random victims, delays uniform in (0, ${SPAN / 1000} s]. ` +
    `Then as many pairs as all loops can do in ${HURRIED} s, the driver's own work included. Each loop is a thread; CPU and ` +
    'pairs are those of all, the block is the longest. The clock is read twice per pair, by all.',
  base: '1 loop, 1 shard',
  subjects: entries,
  figures: [
    { key: 'loop', title: 'event-loop CPU', unit: 'ns per pair', net: true },
    { key: 'process', title: 'process CPU', unit: 'ns per pair', net: true },
    { key: 'p99', title: 'late p99', unit: 'ms' },
    { key: 'block', title: 'longest block', unit: 'ms' },
    { key: 'early', title: 'early', unit: 'timers' },
    { key: 'reached', title: 'reached', unit: 'pairs/s', moreIsBetter: true },
    { key: 'rate', title: 'highest rate', unit: 'pairs/s', moreIsBetter: true },
    { key: 'each', title: 'a pair at that rate', unit: 'ns' },
  ],
  run: measure,
};

async function measure(name: string, { quick }: Scale): Promise<Measurement> {
  const subject = subjects.find((known) => known.name === name);
  if (subject === undefined) throw new Error(`no subject is named ${name}`);
  const { shards, timers } = subject;
  const part = quick ? 0.05 : 1;
  const [rate, live] = [RATE / subject.loops, (LIVE * part) / subject.loops];
  const owner = shards === undefined ? undefined : createScheduler({ shards });
  await owner?.ready;
  const handle = owner?.share();
  const entry = new URL(`./client-thread${import.meta.url.slice(-3)}`, import.meta.url);
  const loops = new EventLoops<ClientCalls>(() => new Worker(entry), subject.loops);
  try {
    const warmUp = (WARM_UP * part) / subject.loops;
    await loops.all((loop, index) => loop.prepare({ timers, handle, index, live, span: SPAN * part }, warmUp));
    await sleep(REST * part);
    await loops.all((loop) => loop.pace(rate, SETTLE * part));
    const paced = await loops.all((loop) => loop.pace(rate, PACED * part));
    const rates = await loops.all((loop) => loop.hurry(HURRIED * part));
    await loops.all((loop) => loop.close());
    const checksum = paced.reduce((sum, client) => (sum + client.checksum) | 0, 0);
    return { figures: figuresOf(paced, rates), checksums: { [`operations of ${subject.loops} loops`]: checksum } };
  } finally {
    await loops.terminate();
    await owner?.close();
  }
}

function figuresOf(paced: readonly ClientResult[], rates: readonly number[]): Record<string, number> {
  const sumOf = (figure: (client: ClientResult) => number) => paced.reduce((sum, client) => sum + figure(client), 0);
  const mostOf = (figure: (client: ClientResult) => number) => Math.max(...paced.map(figure));
  const latenesses = paced.map((client) => client.latenesses);
  const pairs = sumOf((client) => client.operations);
  const highest = rates.reduce((sum, rate) => sum + rate, 0);
  return {
    loop: (sumOf((client) => client.cpu.thread) * 1e6) / pairs,
    // Each has measured the whole process, from the same moment to its own end.
    process: (mostOf((client) => client.cpu.process) * 1e6) / pairs,
    p99: mergedLateness(
      latenesses,
      mostOf((client) => client.latest),
    ).p99,
    block: mostOf((client) => client.block),
    early: sumOf((client) => client.early),
    reached: sumOf((client) => client.rate),
    rate: highest,
    each: 1e9 / highest,
  };
}
