import type { Suite } from '../suite.ts';
import type { Target } from '../target.ts';
import { liveSuites, liveTargets } from './live-suites.ts';
import { memorySuite, memoryTargets } from './memory-suite.ts';
import { waitSuite, waitTargets } from './wait-suite.ts';

/** (k) The drop-in timers beside Node's own. */
export const faceSuites: readonly Suite[] = [...liveSuites, waitSuite, memorySuite];
export const faceTargets: readonly Target[] = [...liveTargets, ...waitTargets, ...memoryTargets];
