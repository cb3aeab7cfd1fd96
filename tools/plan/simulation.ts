import type { Costs, Service } from './costs.ts';
import { EventQueue } from './event-queue.ts';
import { firesPerConnection, type PlannedLoad } from './planned-load.ts';
import { Random } from './random.ts';
import { SimulatedCores, type SimulatedThread } from './simulated-cores.ts';
import { SimulatedLoop } from './simulated-loop.ts';
import { SimulatedShard } from './simulated-shard.ts';

/** A way to run the load. */
export interface Arrangement {
  readonly service: Service;
  readonly cores: number;
  readonly loops: number;
  /** 0 for those that need none. */
  readonly shards: number;
}

export interface Prediction {
  /** ms by which the loop that is furthest behind has yet to serve what has arrived, at the end. */
  readonly behind: number;
  /** Share of a core that each loop takes, on average; what of it timers take; and that of each shard. */
  readonly loopCpu: number;
  readonly timersCpu: number;
  readonly shardCpu: number;
  /** Cores that are busy. */
  readonly busyCores: number;
  /** ms */
  readonly lateness: { readonly p50: number; readonly p99: number };
  /** ms: longest turn of a loop, its waits for a core included. */
  readonly longestTurn: number;
}

/** ms of simulated time before anything counts. */
const warmup = 200;

/**
 * Timers that come due in a simulated ms, at most, of all loops together: enough for a p99, and to wake each of 1,024
 * loops. How late each of them is takes memory, and all that they cost is in the costs of connections and turns: of
 * more timers, so many are drawn.
 */
const MOST_DUE = 2000;

/**
 * A discrete simulation of event loops, shards and cores. A loop takes what has arrived in turns, one each ms or as the
 * last one ends; its timers cost what was measured, and so do a shard's, which works once each ms in which there is
 * something to do. A timer that comes due is as late as one was in the measurement, where nothing was in its way, and
 * by all the time that its shard and its loop are busy or without a core. The collector's pauses come as often, and
 * last as long, as they did.
 *
 * What it does not know: caches and memory that cores share, and the cost of a switch.
 */
export function simulate(
  load: PlannedLoad,
  costs: Costs,
  { cores, loops, service, shards }: Arrangement,
  milliseconds = 1000,
): Prediction {
  const random = new Random(0x51ed270b);
  const events = new EventQueue();
  const machine = new SimulatedCores(events, cores);
  const served = costs.services[service];
  const rate = load.cps / loops / 1000;
  const fires = Math.min(firesPerConnection(load) * rate, MOST_DUE / loops);
  const allShards: SimulatedShard[] = [];
  const publish = (connections: number) => {
    for (const shard of allShards) shard.receive(connections / shards);
  };
  const allLoops = Array.from({ length: loops }, (_, at) => {
    return new SimulatedLoop({ events, machine, random, served, rate, work: costs.work, phase: at / loops, publish });
  });
  for (let shard = 0; shard < shards; shard++) {
    const part = { fires: (fires * loops) / shards, cost: served.shard };
    allShards.push(new SimulatedShard({ events, machine, random, loops: allLoops, ...part }));
  }
  if (shards === 0) for (const loop of allLoops) loop.fire(fires);
  events.runUntil(warmup);
  const before = allLoops.map((loop) => loop.served);
  const usedBefore = cpuOf(allLoops, allShards);
  for (const loop of allLoops) loop.forget();
  events.runUntil(warmup + milliseconds);
  const used = cpuOf(allLoops, allShards);
  const latenesses = allLoops.flatMap((loop) => loop.latenesses).sort((a, b) => a - b);
  const share = (part: keyof typeof used) => (used[part] - usedBefore[part]) / milliseconds;
  const connections = allLoops.reduce((sum, loop, at) => sum + loop.served - before[at], 0);
  const loopCpu = share('loops') / loops;
  return {
    behind: Math.max(...allLoops.map((loop) => loop.waiting)) / rate,
    loopCpu,
    timersCpu: loopCpu - (connections * costs.work) / milliseconds / loops,
    shardCpu: shards === 0 ? 0 : share('shards') / shards,
    busyCores: share('loops') + share('shards') + share('helpers'),
    lateness: {
      p50: latenesses[Math.floor(latenesses.length * 0.5)] ?? 0,
      p99: latenesses[Math.floor(latenesses.length * 0.99)] ?? 0,
    },
    longestTurn: Math.max(...allLoops.map((loop) => loop.longestTurn)),
  };
}

function cpuOf(loops: readonly SimulatedLoop[], shards: readonly SimulatedShard[]) {
  const sum = (threads: readonly SimulatedThread[]) => threads.reduce((all, { used }) => all + used, 0);
  return {
    loops: sum(loops.map(({ thread }) => thread)),
    helpers: sum(loops.map(({ helper }) => helper)),
    shards: sum(shards.map(({ thread }) => thread)),
  };
}
