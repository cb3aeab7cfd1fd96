import type { Suite } from '../suite.ts';
import { mqttBroker } from './mqtt-broker.ts';
import type { Program } from './program.ts';
import { programSuite } from './program-suite.ts';

/** Whole programs, in the order in which they are shown. */
export const programs: readonly Program[] = [mqttBroker];

/** (m) Programs as people run them, on Node's timers and on ours. */
export const programSuites: readonly Suite[] = programs.map(programSuite);
