import { type Costs, type CpuCost, serviceTitles } from './costs.ts';
import { liveTimers, type PlannedLoad } from './planned-load.ts';
import { type Arrangement, type Prediction, simulate } from './simulation.ts';

export interface PlanRequest {
  readonly load: PlannedLoad;
  readonly loops: number;
  readonly cores: number;
  /** Bytes that the timers may take. */
  readonly memory?: number;
}

type Resource = 'event loops' | 'shards' | 'cores' | 'memory';

/** A way to run the load, and what is expected of it. */
export interface Candidate {
  readonly arrangement: Arrangement;
  readonly prediction: Prediction;
  /** Bytes of timers. */
  readonly memory: number;
  /** The most connections per second, and what is short there. */
  readonly highest: number;
  readonly breaksAt: Resource;
}

/** Share of a loop's or a shard's time, and of the cores, that leaves room for bursts and for what was not planned. */
export const COMFORTABLE = 0.7;
const comfortableCores = 0.85;

/** ms of simulated time for the search of the highest rate, and steps of it. */
const probe = 500;
const steps = 8;
/** ms of the loop that a connection takes, at least: what was measured may be none, within its noise. */
const LEAST_WORK = 1e-3;
/**
 * ms by which a loop may be behind while it holds its rate: a pause of the collector. A loop that is 4 % too slow is
 * further behind.
 */
const patience = 20;

export const titleOf = ({ service, shards }: Arrangement): string =>
  service === 'shard' ? `shardwheel, ${shards} ${shards === 1 ? 'shard' : 'shards'}` : serviceTitles[service];

/** Share of its time below which a shard is not worth a second one. */
const idleShard = 0.35;

/**
 * Node's own timers, shardwheel inline, and with shards: 1, then twice as many as long as each is busy. One at a time:
 * it takes long.
 */
export function* candidates(request: PlanRequest, costs: Costs): Generator<Candidate, void, undefined> {
  const { cores, loops } = request;
  yield candidate(request, costs, { service: 'native', cores, loops, shards: 0 });
  yield candidate(request, costs, { service: 'inline', cores, loops, shards: 0 });
  for (let shards = 1; shards <= cores; shards *= 2) {
    const next = candidate(request, costs, { service: 'shard', cores, loops, shards });
    yield next;
    if (next.prediction.shardCpu < idleShard) return;
  }
}

function candidate(request: PlanRequest, costs: Costs, arrangement: Arrangement): Candidate {
  const prediction = simulate(request.load, costs, arrangement);
  const byMemory = rateOfMemory(request, costs, arrangement);
  const bySpeed = highestRate(request.load, costs, arrangement);
  const memory = memoryOf(request.load, costs, arrangement);
  if (byMemory < bySpeed) return { arrangement, prediction, memory, highest: byMemory, breaksAt: 'memory' };
  const breaksAt = shortestAt(bySpeed, costs, arrangement);
  return { arrangement, prediction, memory, highest: bySpeed, breaksAt };
}

/** Bytes, with all timers of the load live. */
function memoryOf(load: PlannedLoad, costs: Costs, { loops, service }: Arrangement): number {
  const { bytesAtRest, bytesPerTimer } = costs.services[service];
  return loops * bytesAtRest + liveTimers(load) * bytesPerTimer;
}

/** Connections per second whose timers fit into the memory. */
function rateOfMemory({ load, memory }: PlanRequest, costs: Costs, arrangement: Arrangement): number {
  if (memory === undefined) return Number.POSITIVE_INFINITY;
  const atRest = memoryOf({ ...load, cps: 0 }, costs, arrangement);
  const perConnection = (memoryOf(load, costs, arrangement) - atRest) / load.cps;
  return Math.max(0, (memory - atRest) / perConnection);
}

/** The most connections per second that the simulation holds, within 1 %. */
export function highestRate(load: PlannedLoad, costs: Costs, arrangement: Arrangement): number {
  const holds = (cps: number) => simulate({ ...load, cps }, costs, arrangement, probe).behind < patience;
  const { perConnection } = costs.services[arrangement.service].loop;
  let low = 0;
  let high = (arrangement.loops * 1000) / Math.max(LEAST_WORK, costs.work + perConnection); // nothing beside them
  for (let step = 0; step < steps; step++) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** What has least room left at a rate. */
function shortestAt(cps: number, costs: Costs, { cores, loops, service, shards }: Arrangement): Resource {
  const { helpers, loop, shard } = costs.services[service];
  /** Cores that this many threads take together, at a number of connections in a ms. */
  const busy = (cost: CpuCost, threads: number) => (cps / 1000) * cost.perConnection + threads * cost.perTurn;
  const ofLoops = busy(loop, loops) + (cps / 1000) * costs.work;
  const used: [Resource, number][] = [
    ['event loops', ofLoops / loops],
    ['shards', shards === 0 ? 0 : busy(shard, shards) / shards],
    ['cores', (ofLoops + busy(shard, shards) + busy(helpers, loops)) / cores],
  ];
  return used.reduce((most, each) => (each[1] > most[1] ? each : most))[0];
}

/** Whether there is room left everywhere. */
export function isComfortable({ memory, prediction }: Candidate, { cores, memory: limit }: PlanRequest): boolean {
  const { behind, busyCores, loopCpu, shardCpu } = prediction;
  return (
    Math.max(loopCpu, shardCpu) <= COMFORTABLE &&
    busyCores <= cores * comfortableCores &&
    behind < patience &&
    memory <= (limit ?? Number.POSITIVE_INFINITY)
  );
}
