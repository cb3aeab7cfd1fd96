import type { Suite } from '../../engine/suite.ts';
import { connections } from './connections.ts';
import { pairs } from './pairs.ts';
import { million, recovery } from './recovery.ts';

/** Durable timers beside what else keeps timers in the same stores. */
export const durableSuites: readonly Suite[] = [connections, pairs, recovery, million];
