import type { Suite } from '../engine/suite.ts';
import { clients } from '../suites/clients/clients.ts';
import { latenessShape } from '../suites/pictures/lateness-shape.ts';
import { liveCost } from '../suites/pictures/live-cost.ts';
import { loopTrace } from '../suites/pictures/loop-trace.ts';
import { rateSuites } from '../suites/rates/rate-suites.ts';
import { autoSuites } from '../suites/scheduler/auto.ts';
import { burst } from '../suites/scheduler/burst.ts';
import { calls } from '../suites/scheduler/calls.ts';
import { delivery } from '../suites/scheduler/delivery.ts';
import { memory } from '../suites/scheduler/memory.ts';
import { contexts, equal, flood, lateness, move, newest, random, shards } from '../suites/scheduler/paced-suites.ts';
import { slackSuites } from '../suites/scheduler/slack.ts';
import { heartbeats } from '../suites/steering/heartbeats.ts';
import { labels } from '../suites/steering/labels.ts';

/**
 * What runs where there is nothing but Node, `dist`, `lib`, package.json and the packages that threads need. Peers are
 * packages: there words leave them out.
 */
export const portableSuites: readonly Suite[] = [
  random,
  newest,
  equal,
  move,
  contexts,
  calls,
  burst,
  lateness,
  flood,
  shards,
  ...autoSuites,
  ...slackSuites,
  delivery,
  ...rateSuites,
  labels,
  heartbeats,
  clients,
  memory,
  liveCost,
  latenessShape,
  loopTrace,
];
