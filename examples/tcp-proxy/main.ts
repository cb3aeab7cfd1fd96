import { performance } from 'node:perf_hooks';
import { createScheduler } from 'shardwheel';
import { Child } from './child.ts';
import type { LoadOptions, LoadReport } from './load.ts';
import type { Measurement } from './measurement.ts';
import { type Options, parseOptions } from './options.ts';
import type { Route } from './plans.ts';
import { printTables } from './print-tables.ts';
import { Progress } from './progress.ts';
import { type ConnectionEnd, TcpProxy } from './proxy.ts';
import { judge } from './verdict.ts';

/*
 * Three processes, so that the figures of this one are the proxy's and its timers' alone:
 *
 *   load (load-process) ──127.0.0.1──▶ proxies + scheduler (this process) ──127.0.0.1──▶ upstream, blackhole
 *
 * One scheduler serves two proxies: one before the test upstream, one before the blackhole.
 */

const MAX_SLOW = 600;

const measurement = await measure(parseOptions(process.argv));
const verdict = judge(measurement.report, measurement.ends);
printTables(measurement, verdict);
if (verdict.faults.length > 0 || measurement.stats.size > 0) process.exitCode = 1;

async function measure(options: Options): Promise<Measurement> {
  const { timeouts } = options;
  const upstreamProcess = new Child('upstream');
  const loadProcess = new Child('load');
  try {
    await using scheduler = createScheduler({ shards: options.shards });
    const [upstreamPorts] = await Promise.all([upstreamProcess.answer<Record<Route, number>>(), scheduler.ready]);
    const ends: Record<Route, ConnectionEnd[]> = { upstream: [], blackhole: [] };
    const openProxy = (route: Route): Promise<TcpProxy> =>
      TcpProxy.listen({
        scheduler,
        upstreamPort: upstreamPorts[route],
        timeouts,
        onEnd: (end) => ends[route].push(end),
      });
    const proxies = { upstream: await openProxy('upstream'), blackhole: await openProxy('blackhole') };

    const progress = new Progress(scheduler, Object.values(proxies));
    const usage = startUsage();
    const load: LoadOptions = {
      ports: { upstream: proxies.upstream.port, blackhole: proxies.blackhole.port },
      timeouts,
      seconds: options.seconds,
      maxConnections: options.connections,
      parallel: options.parallel,
      hanging: options.hanging / 100,
      maxSlow: MAX_SLOW,
    };
    loadProcess.send(load);
    await loadProcess.answer<'opened'>();
    const { loop, cpu } = usage();
    const report = await loadProcess.answer<LoadReport>();
    progress.stop();

    for (const proxy of Object.values(proxies)) await proxy.close();
    return { report, ends, loop, cpu, peakTimers: progress.peakTimers, stats: await scheduler.stats() };
  } finally {
    await Promise.all([upstreamProcess.close(), loadProcess.close()]);
  }
}

function startUsage(): () => { loop: number; cpu: number } {
  const from = performance.now();
  const cpuFrom = process.cpuUsage();
  const loopFrom = performance.eventLoopUtilization();
  return () => {
    const { user, system } = process.cpuUsage(cpuFrom);
    const cpu = (user + system) / 1_000 / (performance.now() - from);
    return { loop: performance.eventLoopUtilization(loopFrom).utilization, cpu };
  };
}
