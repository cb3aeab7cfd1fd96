import { readdirSync, readFileSync } from 'node:fs';

/** The threads of this process, by the kernel's numbers; none except on Linux. */
export function threadIds(): string[] {
  try {
    return readdirSync('/proc/self/task');
  } catch {
    return []; // not Linux
  }
}

/** ms of CPU that these threads have used in all. */
export function cpuOf(threads: readonly string[]): number {
  return threads.reduce((sum, id) => {
    try {
      return sum + Number(readFileSync(`/proc/self/task/${id}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
    } catch {
      return sum; // it has ended
    }
  }, 0);
}
