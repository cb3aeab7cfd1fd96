import type { Suite } from '../../engine/suite.ts';
import { importSuite } from './import-suite.ts';
import { programsSuite } from './programs-suite.ts';
import { registerSuite } from './register-suite.ts';
import { threadsSuite } from './threads-suite.ts';
import { timerSuite } from './timer-suite.ts';

/** (p) What it takes to load, start and preload the package, each in processes of its own. */
export const loadingSuites: readonly Suite[] = [importSuite, registerSuite, threadsSuite, timerSuite, programsSuite];
