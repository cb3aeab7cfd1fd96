import { setImmediate as nextTurn } from 'node:timers/promises';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import { CpuMeter } from '../../replay/cpu-meter.ts';
import { xorshift } from '../../replay/xorshift.ts';

/** Operations of a turn of the event loop. */
export const CHUNK = 2048;

/**
 * CPU of the event loop's thread for each of so many operations on random timers, ns: the second time, when all is
 * compiled.
 */
export async function each(operations: number, live: number, operate: (timer: number) => void): Promise<number> {
  const scale = scaleFor(live);
  let random = SEED;
  let used = 0;
  for (let run = 0; run < 2; run++) {
    const meter = new CpuMeter();
    meter.start();
    for (let done = 0; done < operations; done += CHUNK) {
      for (let i = 0; i < CHUNK; i++) {
        random = xorshift(random);
        operate(scaled(random, scale));
      }
      await nextTurn();
    }
    used = meter.read().thread;
  }
  return (used * 1e6) / operations;
}
