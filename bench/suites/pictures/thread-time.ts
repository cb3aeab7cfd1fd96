import { performance } from 'node:perf_hooks';

type ThreadUsage = () => { readonly user: number; readonly system: number };

/** Of Node 23.9 and later. */
const { threadCpuUsage } = process as { threadCpuUsage?: ThreadUsage };

/**
 * ms of CPU that this thread has used: what else runs on the machine takes none of it. Where Node does not tell, time
 * by the clock.
 */
export function threadTime(): number {
  if (threadCpuUsage === undefined) return performance.now();
  process.cpuUsage(); // brings the kernel's count for this thread up to date: else it is that of its last tick
  const { user, system } = threadCpuUsage.call(process);
  return (user + system) / 1000;
}
