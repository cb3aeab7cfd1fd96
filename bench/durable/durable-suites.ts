import type { Suite } from '../suite.ts';
import type { Target } from '../target.ts';
import { connections, connectionTargets } from './connections.ts';
import { pairs, pairTargets } from './pairs.ts';
import { million, recovery, recoveryTargets } from './recovery.ts';

/** Durable timers beside what else keeps timers in the same stores. */
export const durableSuites: readonly Suite[] = [connections, pairs, recovery, million];
export const durableTargets: readonly Target[] = [...connectionTargets, ...pairTargets, ...recoveryTargets];
