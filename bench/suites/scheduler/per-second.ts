import { setTimeout as sleep } from 'node:timers/promises';
import { CpuMeter, type CpuUse } from '../../replay/cpu-meter.ts';

export interface PerSecond {
  /** How often a thread of the process went to sleep: its driver's, a shard's, one of V8's. */
  readonly wakes: number;
  /** ms of CPU of the event loop's thread. */
  readonly loop: number;
  /** ms of CPU of all threads. */
  readonly process: number;
}

/** What a piece of work, which tells its CPU, takes for each second that it lasts. */
export async function perSecond(work: () => Promise<CpuUse>): Promise<PerSecond> {
  const asleep = process.resourceUsage().voluntaryContextSwitches;
  const begun = performance.now();
  const cpu = await work();
  const seconds = (performance.now() - begun) / 1000;
  const wakes = (process.resourceUsage().voluntaryContextSwitches - asleep) / seconds;
  return { wakes, loop: cpu.thread / seconds, process: cpu.process / seconds };
}

/** Does nothing for a while; what is due comes. */
export async function rest(ms: number): Promise<CpuUse> {
  const cpu = new CpuMeter();
  cpu.start();
  await sleep(ms);
  return cpu.read();
}
