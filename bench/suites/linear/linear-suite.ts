import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { burst, cancelAndRebuild, close, fire, NEAR_SPAN, scheduleAndPublish } from './operations.ts';

const INLINE = 'inline';
const THREAD = 'one thread';

/** 2^18 and 2^23. */
const SIZES = ['262,144', '8,388,608'] as const;
/** Of a quick run: one of so many timers. */
const QUICK = 256;
/** Timers of the run before the first that counts, and in all of those that count. */
const WARM_UP = 2 ** 18;
const MEASURED = 2 ** 20;

const operations = ['schedule', 'publish', 'rebuild', 'cancel', 'fire', 'close', 'burst'];

/** (L) That no operation gets dearer by more than caches explain where more timers live. */
export const linear: Suite = {
  name: 'linear operations',
  title: 'Linear: what an operation costs among few timers and among many',
  codes: ['L1', 'linear'],
  about:
    `CPU of the whole process for each timer; the growth is that at ${SIZES[1]} by that at ${SIZES[0]}. All are scheduled in one go, which is the ` +
    "event loop's CPU; what the process takes beyond that until the shard has filed them all is their publication. An index is built anew, " +
    "as after a thread's death; all are cancelled in an order that no processor foresees. Others fire, due within " +
    `${NEAR_SPAN} ms, all of them when the event loop comes to look. close() hands back an object for each. A burst is scheduled in the turn in ` +
    'which the scheduler is made, until a thread has filed it, less the CPU of starting one.',
  base: '',
  subjects: [
    { name: INLINE, note: 'shards: 0' },
    { name: THREAD, note: 'shards: 1, its thread up but for the burst' },
  ],
  figures: operations.flatMap((operation) => [
    ...SIZES.map((size) => ({ key: `${operation} ${size}`, title: `${operation} ${size}`, unit: 'ns' })),
    { key: `${operation} growth`, title: `${operation} growth`, unit: '×' },
  ]),
  parts: SIZES,
  derive: (figures) =>
    Object.fromEntries(
      operations
        .filter((operation) => `${operation} ${SIZES[1]}` in figures)
        .map((operation) => [
          `${operation} growth`,
          figures[`${operation} ${SIZES[1]}`] / figures[`${operation} ${SIZES[0]}`],
        ]),
    ),
  run,
};

/** The small size is measured several times: what a process does once, compiling above all, must not weigh on it. */
async function run(subject: string, { quick }: Scale, size: string): Promise<Measurement> {
  const shards = subject === THREAD ? 1 : 0;
  const count = Number(size.replaceAll(',', '')) / (quick ? QUICK : 1);
  if (!quick) await measure(shards, WARM_UP);
  const times = quick ? 1 : Math.max(1, MEASURED / count);
  const sums: Record<string, number> = {};
  for (let time = 0; time < times; time++) {
    for (const [key, value] of Object.entries(await measure(shards, count))) sums[key] = (sums[key] ?? 0) + value;
  }
  const figures = Object.entries(sums).map(([operation, sum]) => [`${operation} ${size}`, sum / times]);
  return { figures: Object.fromEntries(figures), checksums: {} };
}

/** ns of CPU for each of `count` timers, by operation, each on timers of its own. */
async function measure(shards: number, count: number): Promise<Record<string, number>> {
  return {
    ...(await scheduleAndPublish(shards, count)),
    ...(await cancelAndRebuild(shards, count)),
    fire: await fire(shards, count),
    close: await close(shards, count),
    ...(shards > 0 && { burst: await burst(count) }),
  };
}
