import type { Suite } from './engine/suite.ts';
import { clients } from './suites/clients/clients.ts';
import { durableSuites } from './suites/durable/durable-suites.ts';
import { faceSuites } from './suites/faces/face-suites.ts';
import { linear } from './suites/linear/linear-suite.ts';
import { loadingSuites } from './suites/loading/loading-suites.ts';
import { hash, ids, table } from './suites/parts/parts.ts';
import { programSuites } from './suites/programs/programs.ts';
import { rateSuites } from './suites/rates/rate-suites.ts';
import { runtimes } from './suites/runtimes/runtime-suite.ts';
import { autoSuites } from './suites/scheduler/auto.ts';
import { burst } from './suites/scheduler/burst.ts';
import { calls } from './suites/scheduler/calls.ts';
import { delivery } from './suites/scheduler/delivery.ts';
import { memory } from './suites/scheduler/memory.ts';
import { contexts, equal, flood, lateness, move, newest, random, shards } from './suites/scheduler/paced-suites.ts';
import { replay } from './suites/scheduler/replay.ts';
import { slackSuites } from './suites/scheduler/slack.ts';
import { heartbeats } from './suites/steering/heartbeats.ts';
import { labels } from './suites/steering/labels.ts';
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
  random,
  newest,
  equal,
  move,
  contexts,
  calls,
  burst,
  lateness,
  flood,
  replay,
  shards,
  ...autoSuites,
  ...slackSuites,
  delivery,
  ...rateSuites,
  labels,
  heartbeats,
  scrape,
  clients,
  ...faceSuites,
  runtimes,
  ...programSuites,
  ...loadingSuites,
  ...durableSuites,
  memory,
  linear,
  ids,
  hash,
  table,
];
