import type { ProfileData } from '../extras/profile/profile-data.ts';
import { startProfile } from '../extras/profile/start-profile.ts';

const running = startProfile();

/**
 * Returns this thread's profile so far, or at its stop. `undefined` in a thread that is not recorded: a shard's, or one
 * that already uses shardwheel's timers. Takes about a millisecond.
 */
export const snapshot = (): ProfileData | undefined => running?.snapshot();

/**
 * Ends the recording of this thread and restores Node's functions. Returns the profile; a second call returns the same.
 */
export const stop = (): ProfileData | undefined => running?.stop();

export type { ProfileData };
