import { process } from '../../process.ts';
import { threadNumber } from '../../runtime.ts';
import { timeOrigin } from '../../unfaked.ts';

/**
 * What tells this thread from others of the same moment without chance: Node's `--random-seed` makes what
 * `Math.random` draws the same in all of them. Loads no `node:crypto`.
 */
export interface ThreadMark {
  /** Process, thread and start, whole, as letters and digits with `.` between them. */
  readonly text: string;
  /**
   * The same as a whole number below 2^52, which has less room:
   *
   *     51      30 29      20 19                         0
   *     ┌─────────┬──────────┬────────────────────────────┐
   *     │   pid   │  thread  │  µs of the process's start  │    the lowest bits of each
   *     └─────────┴──────────┴────────────────────────────┘
   */
  readonly number: number;
}

let mark: ThreadMark | undefined;

export function threadMark(): ThreadMark {
  mark ??= newMark(process.pid, threadNumber(), Math.round(timeOrigin * 1000));
  return mark;
}

function newMark(pid: number, thread: number, start: number): ThreadMark {
  const text = [pid, thread, start].map((part) => part.toString(36)).join('.');
  return { text, number: (pid % 2 ** 22) * 2 ** 30 + (thread % 2 ** 10) * 2 ** 20 + (start % 2 ** 20) };
}
