import { clients } from './clients/clients.ts';
import { durableSuites } from './durable/durable-suites.ts';
import { faceSuites } from './faces/face-suites.ts';
import { linearSuites } from './linear/linear-suites.ts';
import { loadingSuites } from './loading/loading-suites.ts';
import { hash, ids, table } from './parts/parts.ts';
import { programSuites } from './programs/programs.ts';
import { runtimes } from './runtimes/runtime-suite.ts';
import { burst } from './scheduler/burst.ts';
import { deliverySuites } from './scheduler/delivery.ts';
import { memory } from './scheduler/memory.ts';
import { equal, flood, lateness, move, newest, random, shards } from './scheduler/paced-suites.ts';
import { replay } from './scheduler/replay.ts';
import { slackSuites } from './scheduler/slack.ts';
import { heartbeats } from './steering/heartbeats.ts';
import { labels } from './steering/labels.ts';
import { rescale } from './steering/rescale.ts';
import { scrape } from './steering/scrape.ts';
import { unread } from './steering/unread.ts';
import type { Suite } from './suite.ts';
import { churn } from './wheel/churn.ts';
import { fire } from './wheel/fire.ts';
import { growth } from './wheel/growth.ts';
import { hour } from './wheel/hour.ts';

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
  burst,
  lateness,
  flood,
  replay,
  shards,
  ...slackSuites,
  ...deliverySuites,
  labels,
  heartbeats,
  rescale,
  scrape,
  unread,
  clients,
  ...faceSuites,
  runtimes,
  ...programSuites,
  ...loadingSuites,
  ...durableSuites,
  memory,
  ...linearSuites,
  ids,
  hash,
  table,
];
