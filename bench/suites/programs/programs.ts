import type { Suite } from '../../engine/suite.ts';
import { expiringMap } from './expiring-map.ts';
import { mqttBroker } from './mqtt-broker.ts';
import type { Program } from './program.ts';
import { programSuite } from './program-suite.ts';
import { sessionBurst } from './session-burst.ts';
import { websocketServer } from './websocket-server.ts';

/** Whole programs, in the order in which they are shown; those that `loading` registers are further ones. */
export const programs: readonly Program[] = [expiringMap, sessionBurst, websocketServer, mqttBroker];

/** (m) Programs as people run them, on Node's timers and on ours. */
export const programSuites: readonly Suite[] = programs.map(programSuite);
