import type { Suite } from '../../engine/suite.ts';
import { liveSuites } from './live-suites.ts';
import { memorySuite } from './memory-suite.ts';
import { waitSuite } from './wait-suite.ts';

/** (k) The drop-in timers beside Node's own. */
export const faceSuites: readonly Suite[] = [...liveSuites, waitSuite, memorySuite];
