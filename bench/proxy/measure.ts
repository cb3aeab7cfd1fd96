import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createScheduler, type Scheduler } from 'shardwheel';
import { canSharePorts } from '../../examples/tcp-proxy/port-sharing.ts';
import { Child } from './child.ts';
import { EventLoops } from './event-loops.ts';
import { MAX_SLOW } from './file-descriptors.ts';
import { KillSchedule } from './kill-schedule.ts';
import type { LoadOptions, LoadReport } from './load.ts';
import type { Measurement } from './measurement.ts';
import type { Options } from './options.ts';
import { allPlans, type Route } from './plans.ts';
import { Progress } from './progress.ts';
import { TimerCensus } from './timer-census.ts';

/*
 * Three processes, so that the figures of this one are the proxy's and its timers' alone:
 *
 *   load (load-process) ──127.0.0.1──▶ proxies + scheduler (this process) ──127.0.0.1──▶ upstream, blackhole
 *
 * This thread owns the scheduler and serves nothing. Each event loop is a thread of its own, a client of that
 * scheduler, with a proxy for each route: before the test upstream, before the blackhole, and with TLS clients.
 */

/** ms in which the scheduler has noticed that threads are gone. */
const SWEPT_WITHIN = 5_000;

/**
 * One run of one process' share. `onStanding` is told that all stand, by how many sockets; the run goes on when it
 * resolves.
 */
export async function measure(options: Options, onStanding: (sockets: number) => Promise<void>): Promise<Measurement> {
  const { timeouts, threads, kill, limits } = options;
  const isUnlimited = !limits;
  const upstreamProcess = new Child('upstream');
  const loadProcess = new Child('load');
  try {
    await using scheduler = createScheduler({ shards: options.shards });
    const [upstreamPorts] = await Promise.all([upstreamProcess.answer<Record<Route, number>>(), scheduler.ready]);
    const setup = { handle: scheduler.share(), upstreamPorts, timeouts, isUnlimited };
    const capacity = options.connections + options.standing + allPlans.length;
    await using loops = new EventLoops(setup, capacity, await canSharePorts());
    await loops.start(threads);

    const census = new TimerCensus(scheduler);
    const progress = new Progress(loops, census);
    const load: LoadOptions = {
      ports: loops.ports,
      asksForPort: loops.asksForPort,
      timeouts,
      isUnlimited,
      seconds: options.seconds,
      maxConnections: options.connections,
      parallel: options.parallel,
      hanging: options.hanging / 100,
      maxSlow: Math.ceil(MAX_SLOW / options.processes),
      standing: options.standing,
    };
    loadProcess.send(load);
    try {
      await Promise.race([loadProcess.answer<'standing'>(), loops.failed]);
      const before = loops.counts();
      const standingSockets = 2 * (before.accepted - before.ended);
      await onStanding(standingSockets);
      loadProcess.send({});
      const usage = startUsage(loops);
      await using killing = kill === undefined ? undefined : new KillSchedule(loops, kill);
      await Promise.race([loadProcess.answer<'opened'>(), loops.failed]);
      const used = usage();
      await killing?.stop();
      const report = await Promise.race([loadProcess.answer<LoadReport>(), loops.failed]);
      const reports = await loops.stop();
      const timers = reports.map(({ timers }) => timers);
      const stall = Math.max(report.stall, ...reports.map(({ stall }) => stall));
      const { records, kills } = loops;
      const timersOfKilled = kills.flatMap(({ thread }) => census.latestOf(thread) ?? []);
      const clientsLeft = await clientsLeftOf(scheduler);
      return {
        ...{ report, records, ...used, peakTimers: census.peak, standingSockets, timers, stall },
        ...{ kills, timersOfKilled, clientsLeft },
      };
    } finally {
      progress.stop();
      census.stop();
    }
  } finally {
    await Promise.all([upstreamProcess.close(), loadProcess.close()]);
  }
}

function startUsage(eventLoops: EventLoops): () => { loops: number[]; cpu: number } {
  const from = performance.now();
  const cpuFrom = process.cpuUsage();
  eventLoops.utilization();
  return () => {
    const { user, system } = process.cpuUsage(cpuFrom);
    const cpu = (user + system) / 1_000 / (performance.now() - from);
    return { loops: eventLoops.utilization(), cpu };
  };
}

/** Threads that were killed could not take their leave: the scheduler looks for them once a second. */
async function clientsLeftOf(scheduler: Scheduler): Promise<number> {
  const giveUpAt = performance.now() + SWEPT_WITHIN;
  for (;;) {
    const { clients } = await scheduler.stats();
    const left = clients.length - 1; // this thread's own
    if (left === 0 || performance.now() > giveUpAt) return left;
    await sleep(50);
  }
}
