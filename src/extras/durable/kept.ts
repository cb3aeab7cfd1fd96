import type { StoredTimer } from './stored-timer.ts';

/**
 * What stays of a key, of what is scheduled and what comes: what was first, or what has the earlier or the later
 * deadline. Undefined: what comes.
 */
export type Kept = 'first' | 'earlier' | 'later' | undefined;

/** Whether what comes takes the place of what is scheduled. At equal deadlines what is there stays. */
export function replaces(
  comes: Pick<StoredTimer, 'deadline'>,
  scheduled: Pick<StoredTimer, 'deadline'>,
  kept: Kept,
): boolean {
  switch (kept) {
    case 'first':
      return false;
    case 'earlier':
      return comes.deadline < scheduled.deadline;
    case 'later':
      return comes.deadline > scheduled.deadline;
    case undefined:
      return true;
  }
}
