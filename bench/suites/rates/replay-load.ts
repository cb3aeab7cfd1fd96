import { setTimeout as sleep } from 'node:timers/promises';
import { Driver } from '../../replay/driver.ts';
import { ModelProxy } from '../../replay/model-proxy.ts';
import type { ReplayOptions } from '../../replay/options.ts';
import { StepClock } from '../../replay/step-clock.ts';
import { createRateTimers, DRIVER, INLINE, SHARD } from './rate-subjects.ts';
import type { RateLoad } from './rate-task.ts';
import { UsageMeter } from './usage-meter.ts';

/** s of arrivals: until the first TIME-WAIT ends, and then measured. */
export const BEFORE = 1;
export const MEASURED = 2;
/** ms: a timer that is so late when all is over counts as lost. */
const GRACE = 1000;

/** The options of `npm start`, as they are where none is given. */
export const replayDefaults: Omit<ReplayOptions, 'cps' | 'seconds' | 'drain'> = {
  shards: 1,
  threads: 1,
  wheel: 'default',
  tick: 1,
  seed: 1,
  lifetime: 8,
  requests: 3,
  hang: 0.5,
  jitter: 0,
  connectTimeout: 1,
  idleTimeout: 60,
  requestTimeout: 3,
  timeWait: 1,
  contexts: false,
};

/** The four timers of a proxy's connections. `rate`: new connections a second. */
export const measureReplay: RateLoad = async ({ subject: name, rate, quick }) => {
  const [cps, part] = quick ? [1000, 0.1] : [rate, 1];
  const seconds = (BEFORE + MEASURED) * part;
  const connections = Math.round(cps * seconds);
  const clock = new StepClock();
  const proxy = new ModelProxy({ ...replayDefaults, cps, seconds, drain: 0 }, connections, clock);
  const { ledger, calendar } = proxy;
  const subject = await createRateTimers(name, 2 * connections, proxy.onFire);
  proxy.use(subject, name === DRIVER);
  await subject.ready;
  const operations = () => ledger.armed + ledger.moved + ledger.cancelled;
  const meter = new UsageMeter();
  const planned = Math.round(seconds * 1000);
  let before = -1;
  const driver = new Driver(proxy, clock, {
    end: planned,
    connectionsBy: (millisecond) => Math.min(connections, Math.floor(((millisecond + 1) * cps) / 1000)),
    onTurn: (now) => {
      if (before >= 0 || now < BEFORE * part * 1000) return;
      before = operations();
      meter.start();
    },
    isOver: () => calendar.cursor >= planned || clock.read() > 2 * planned,
  });
  clock.start();
  await driver.run();
  const { reached: operated, ...figures } = meter.figures(operations() - before);
  ledger.end = clock.read();
  await sleep(50);
  const expected = clock.read() - GRACE;
  await subject.close((timer) => ledger.handBack(timer, expected), proxy.liveTimers);
  const { early, lost, doubled, refused, lateness } = ledger.verdict();
  const isScheduler = name === INLINE || name === SHARD;
  const wrong = name === DRIVER ? 0 : lost + doubled + (isScheduler ? early + refused : 0);
  if (wrong > 0) throw new Error(`the replay went wrong: ${JSON.stringify({ early, lost, doubled, refused })}`);
  const all = { ...figures, operated, reached: (proxy.opened * 1000) / Math.max(planned, driver.lastAccept) };
  return name === DRIVER ? all : { ...all, p50: lateness.p50, p99: lateness.p99 };
};
