import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { nanosecondsEach } from '../../engine/stopwatch.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { Load, type LoadOptions } from './load.ts';
import {
  afterEntry,
  createSubject,
  DRIVER,
  driverEntry,
  loadsEntry,
  NODE,
  nodeEntry,
  shardwheelEntry,
} from './subjects.ts';

const SLICE = 1000;
const SLICES = 1000;
const FEW = 1000;
const MANY = 1_000_000;

type Part = 'pairFew' | 'pairMany' | 'moveFew' | 'moveMany';

const loads: Readonly<Record<Part, Pick<LoadOptions, 'live' | 'operation'>>> = {
  pairFew: { live: FEW, operation: 'random' },
  pairMany: { live: MANY, operation: 'random' },
  moveFew: { live: FEW, operation: 'move' },
  moveMany: { live: MANY, operation: 'move' },
};

/** What is instructions, and what is waiting for memory. */
export const calls: Suite = {
  name: 'scheduler calls',
  title: 'Scheduler: the calls alone, of a thousand timers and of a million',
  codes: ['calls'],
  about:
    'A random timer is cancelled and another started, or it is moved, in slices of 1,000; the turns of the loop between them are ' +
    'not timed. Of a thousand timers everything is in the cache, so what they take is instructions; the rest is waiting. Medians of 1,000 slices.',
  base: NODE,
  idle: DRIVER,
  subjects: [driverEntry, nodeEntry, shardwheelEntry, afterEntry, loadsEntry],
  figures: [
    { key: 'pairFew', title: 'pair, 1,000 live', unit: 'ns', net: true },
    { key: 'moveFew', title: 'move, 1,000 live', unit: 'ns', net: true },
    { key: 'pairMany', title: 'pair, 1 M live', unit: 'ns', net: true },
    { key: 'moveMany', title: 'move, 1 M live', unit: 'ns', net: true },
  ],
  parts: Object.keys(loads),
  run: (subject, scale, part) => measure(subject, scale, part as Part),
};

async function measure(subject: string, { quick }: Scale, part: Part): Promise<Measurement> {
  const { live, operation } = loads[part];
  // No delay is so short that a timer fires meanwhile.
  const options: LoadOptions = { live: quick ? FEW : live, operation, least: 60_000, span: 120_000 };
  const load = new Load((handles, onFire) => createSubject(subject, handles, onFire), options);
  await load.prepare();
  await sleep(quick ? 20 : 500);
  const slices: number[] = [];
  for (let slice = quick ? SLICES - 5 : -SLICES / 4; slice < SLICES; slice++) {
    const each = nanosecondsEach(SLICE, () => load.perform(SLICE));
    if (slice >= 0) slices.push(each);
    await nextTurn();
  }
  await load.close();
  slices.sort((a, b) => a - b);
  return { figures: { [part]: slices[slices.length >> 1] }, checksums: { [part]: load.operations } };
}
