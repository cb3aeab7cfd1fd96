import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { readMemory } from '../../engine/memory.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { Load } from './load.ts';
import { batchEntry, createSubject, DRIVER, driverEntry, NODE, nodeEntry, shardwheelEntry } from './subjects.ts';

const CHUNK = 4000;

/** What a live timer costs, threads, tables and everything. */
export const memory: Suite = {
  name: 'scheduler memory',
  title: 'Scheduler: resident memory per live timer',
  codes: ['memory', 'bytes'],
  about:
    '1 M timers with delays of 60 to 120 s: growth of the process from the moment it was ready, after garbage ' +
    'collection; then again after 5 M of them were replaced. What the caller keeps per timer is in it: 8 bytes.',
  base: NODE,
  idle: DRIVER,
  subjects: [driverEntry, nodeEntry, shardwheelEntry, batchEntry],
  figures: [
    { key: 'rss', title: 'resident', unit: 'B/timer' },
    { key: 'churned', title: 'after 5 M pairs', unit: 'B/timer' },
    { key: 'rest', title: 'process before, less the driver', unit: 'MB', net: true },
  ],
  run: measure,
};

async function measure(name: string, scale: Scale): Promise<Measurement> {
  const live = scale.quick ? 4000 : 1_000_000;
  const load = new Load((handles, onFire) => createSubject(name, handles, onFire), {
    live,
    operation: 'random',
    least: 60_000,
    span: 120_000,
  });
  await load.subject.ready;
  await sleep(100);
  const before = readMemory().resident;
  await load.prepare();
  await sleep(scale.quick ? 50 : 1000);
  const full = readMemory().resident;
  for (let pairs = 0; pairs < live * 5; pairs += CHUNK) {
    load.perform(CHUNK);
    await nextTurn();
  }
  await sleep(scale.quick ? 50 : 1000);
  const churned = readMemory().resident;
  await load.close();
  const figures = {
    rss: (full - before) / live,
    churned: (churned - before) / live,
    rest: before / 1e6,
  };
  return { figures, checksums: { operations: load.operations } };
}
