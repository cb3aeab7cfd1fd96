import type { ProfileData } from './profile/profile-data.ts';
import { runningProfile, startProfile } from './profile/start-profile.ts';

startProfile();

/**
 * What this thread's profile says so far, or said when it was stopped. `undefined` in a thread that is not recorded: one whose
 * timers are shardwheel's already, a shard's. Takes about a millisecond.
 */
export const snapshot = (): ProfileData | undefined => runningProfile()?.snapshot();

/** Ends the recording of this thread and puts Node's functions back. Returns what it has seen; a second call, the same. */
export const stop = (): ProfileData | undefined => runningProfile()?.stop();

export type { ProfileData };
