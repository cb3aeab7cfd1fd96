// Idle timeouts that get shorter as memory, or the event loop's time, runs out, and grow back: what Envoy's overload
// manager does with scaled timers. `npm run build && node dist/examples/auto-scale.js` fills the heap with connections
// until their timeouts keep it from growing.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createScheduler, type Scheduler } from 'shardwheel';

/**
 * A pressure from 0 to 1: below `from` timeouts are whole, from `to` on they are at their minimum, and linear between.
 */
export interface Pressure {
  readonly read: () => number;
  readonly from: number;
  readonly to: number;
}

/** The share of a heap of so many bytes that is in use. */
export const heapOf = (bytes: number): Pressure => ({
  read: () => process.memoryUsage().heapUsed / bytes,
  from: 0.5,
  to: 0.9,
});

/** The event loop's mean delay since the last look, as a share of so many ms. */
export function loopDelayOf(ms: number): Pressure {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const read = (): number => {
    const mean = Math.max(0, delay.mean / 1e6 - 10); // the resolution is part of each
    delay.reset();
    return Number.isFinite(mean) ? mean / ms : 0;
  };
  return { read, from: 0.2, to: 1 };
}

/** The factor that the greatest of some pressures asks for. */
export function factorFor(pressures: readonly Pressure[]): number {
  const excess = pressures.map(({ read, from, to }) => (read() - from) / (to - from));
  return 1 - Math.min(1, Math.max(0, ...excess));
}

/**
 * Scales the timers of a label by pressures, looking at them every so many ms; returns what ends it. Down at once; up
 * by a tenth at most at a time, so that what has just been freed does not bring the pressure back.
 */
export function autoScale(
  scheduler: Scheduler,
  label: string,
  pressures: readonly Pressure[],
  every = 1000,
): () => void {
  const look = (): void => {
    const wanted = factorFor(pressures);
    const { factor } = scheduler.label(label);
    const next = Math.min(wanted, factor + 0.1);
    if (Math.abs(next - factor) >= 0.01 || next === 1)
      scheduler
        .label(label)
        .setScale(next)
        .catch(() => clearInterval(looking));
  };
  const looking = setInterval(look, every).unref();
  return () => clearInterval(looking);
}

async function main(): Promise<void> {
  const scheduler = createScheduler();
  const idle = scheduler.label('idle', { min: 200 });
  const stop = autoScale(scheduler, 'idle', [heapOf(200 * 2 ** 20), loopDelayOf(50)], 100);
  let open = 0;
  const close = (): void => {
    open -= 1;
  };
  for (let second = 0; second < 5; second++) {
    for (let slice = 0; slice < 50; slice++) {
      for (let i = 0; i < 200; i++) {
        open += 1;
        idle.scheduleAfter(i, 60_000, close, { connection: open, buffer: new Array(500).fill(i) });
      }
      await sleep(20);
    }
    const heap = Math.round(process.memoryUsage().heapUsed / 2 ** 20);
    console.log(`${second + 1} s: ${open} open, heap ${heap} MiB, factor ${idle.factor.toFixed(2)}`);
  }
  stop();
  await scheduler.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
