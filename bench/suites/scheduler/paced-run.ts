import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { CpuMeter, type CpuUse } from '../../replay/cpu-meter.ts';

/** ms of work after which a turn ends though more is due. */
const TURN = 8;

/** What is performed. */
export interface PacedLoad {
  perform(operations: number): void;
  /** Called when measuring begins. */
  measureFrom?(): void;
}

export interface PacedResult {
  readonly operations: number;
  /** Operations per second that were reached. */
  readonly rate: number;
  readonly cpu: CpuUse;
  /** Longest time between two turns beyond the ms that they are apart, ms. */
  readonly block: number;
}

/**
 * Performs `rate` operations per second, a slice of them each millisecond. When a turn comes late, the slices that it
 * missed follow at once; a machine or subject that cannot keep up takes longer, and performs the same slices.
 */
export async function runPaced(load: PacedLoad, rate: number, seconds: number): Promise<PacedResult> {
  const slice = Math.round(rate / 1000);
  const slices = Math.round(seconds * 1000);
  const cpu = new CpuMeter();
  globalThis.gc?.();
  await sleep(20);
  load.measureFrom?.(); // what was late because of that collection is nobody's
  cpu.start();
  const start = performance.now();
  let block = 0;
  await new Promise<void>((resolve, reject) => {
    let done = 0;
    let last = start;
    const turn = () => {
      const now = performance.now();
      block = Math.max(block, now - last - 1);
      last = now;
      try {
        const due = Math.min(slices, Math.floor(now - start));
        while (done < due && performance.now() - now < TURN) {
          load.perform(slice);
          done++;
        }
        if (done === slices) resolve();
        else if (done < due) setImmediate(turn);
        else pacer.refresh();
      } catch (error) {
        reject(error);
      }
    };
    const pacer = setTimeout(turn, 1);
  });
  const took = performance.now() - start;
  // What is still on its way to other threads is part of the price.
  await sleep(20);
  const operations = slice * slices;
  return { operations, rate: (operations * 1000) / took, cpu: cpu.read(), block };
}
