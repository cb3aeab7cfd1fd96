import type { Suite } from './engine/suite.ts';
import { portableSuites } from './portable/portable-suites.ts';
import { durableSuites } from './suites/durable/durable-suites.ts';
import { faceSuites } from './suites/faces/face-suites.ts';
import { loadingSuites } from './suites/loading/loading-suites.ts';
import { hash, ids, table } from './suites/parts/parts.ts';
import { programSuites } from './suites/programs/programs.ts';
import { runtimes } from './suites/runtimes/runtime-suite.ts';
import { replay, replayInContexts } from './suites/scheduler/replay.ts';
import { scrape } from './suites/steering/scrape.ts';
import { churn } from './suites/wheel/churn.ts';
import { fire } from './suites/wheel/fire.ts';
import { growth } from './suites/wheel/growth.ts';
import { hour } from './suites/wheel/hour.ts';

/** Everything that can be measured, in the order in which it is. */
export const suites: readonly Suite[] = [
  churn,
  fire,
  hour,
  growth,
  replay,
  replayInContexts,
  ...portableSuites,
  scrape,
  ...faceSuites,
  runtimes,
  ...programSuites,
  ...loadingSuites,
  ...durableSuites,
  ids,
  hash,
  table,
];
