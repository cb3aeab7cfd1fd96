import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createScheduler, type Scheduler, watchLateness } from 'shardwheel';
import { CpuMeter } from '../../tools/replay/cpu-meter.ts';
import type { Measurement, Scale, Suite } from '../suite.ts';
import { metricReaders } from './metric-readers.ts';
import { CHUNK, each } from './random-timers.ts';

const LIVE = 1_000_000;
const PAIRS = 1_000_000;
const FIRED = 200_000;
const DELAY = 60_000;

/** What is there, and what nobody asks. */
const presences: Readonly<Record<string, (scheduler: Scheduler) => unknown>> = {
  nothing: () => undefined,
  'interval()': metricReaders['interval().next()'],
  Prometheus: metricReaders.Prometheus,
  OpenTelemetry: metricReaders.OpenTelemetry,
  'watchLateness(60,000)': () => watchLateness(60_000),
};

/** (q) That metrics which nobody reads, and a watch for what does not come, cost nothing. */
export const unread: Suite = {
  name: 'steering unread',
  title: 'Metrics that nobody reads',
  codes: ['q'],
  about:
    `1 M live on one shard, delays of 60 to 120 s: cancel and schedule a random timer; then ${FIRED.toLocaleString('en-US')} timers ` +
    'that come due; then a second in which nothing happens.',
  base: 'nothing',
  subjects: Object.keys(presences).map((name) => ({ name })),
  figures: [
    { key: 'pair', title: 'event-loop CPU per cancel + schedule', unit: 'ns' },
    { key: 'fire', title: 'per schedule + callback', unit: 'ns' },
    { key: 'rest', title: 'of the second', unit: 'ms' },
  ],
  run: measure,
};

async function measure(name: string, { quick }: Scale): Promise<Measurement> {
  const live = quick ? 4000 : LIVE;
  const scheduler = createScheduler({ shards: 1 });
  await scheduler.ready;
  presences[name](scheduler);
  const ids = new Float64Array(live);
  const arm = (timer: number): void => {
    ids[timer] = scheduler.scheduleAfter(timer, DELAY + (timer % DELAY));
  };
  for (let timer = 0; timer < live; timer++) {
    arm(timer);
    if (timer % CHUNK === 0) await nextTurn();
  }
  await sleep(quick ? 20 : 500);
  const pair = await each(quick ? 4000 : PAIRS, live, (timer) => {
    scheduler.cancel(ids[timer]);
    arm(timer);
  });
  const fire = await firing(scheduler, quick ? 4000 : FIRED);
  await sleep(quick ? 20 : 200);
  const cpu = new CpuMeter();
  cpu.start();
  await sleep(quick ? 20 : 1000);
  const rest = cpu.read().thread;
  const { size } = scheduler;
  await scheduler.close();
  return { figures: { pair, fire, rest }, checksums: { size } };
}

/** CPU of the event loop's thread for each timer, ns: the second time, when all is compiled. */
async function firing(scheduler: Scheduler, count: number): Promise<number> {
  let used = 0;
  for (let run = 0; run < 2; run++) {
    const cpu = new CpuMeter();
    cpu.start();
    let fired = 0;
    const fire = (): void => {
      fired += 1;
    };
    for (let timer = 0; timer < count; timer++) {
      scheduler.scheduleAfter(timer, 1, fire);
      if (timer % CHUNK === 0) await nextTurn();
    }
    while (fired < count) await sleep(1);
    used = cpu.read().thread;
  }
  return (used * 1e6) / count;
}
