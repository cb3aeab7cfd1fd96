// The thread of event-loop.ts: a proxy for each route, with timers on the shards of the main thread's scheduler.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { connectScheduler } from 'shardwheel';
import { TcpProxy } from '../../examples/tcp-proxy/proxy.ts';
import { ConnectionJournal } from './connection-journal.ts';
import type { ThreadReport, ThreadSetup } from './event-loop.ts';
import { type Route, routes } from './plans.ts';
import { StallGauge } from './stall-gauge.ts';
import { pskServer } from './tls-key.ts';
import { UnlimitedProxy } from './unlimited-proxy.ts';

/** Connections served at a time: what file descriptors there are decides. */
const NO_MAXIMUM = 1_000_000;

const { handle, ports, reusePort, upstreamPorts, timeouts, isUnlimited, journals }: ThreadSetup = workerData;
const scheduler = connectScheduler(handle);
const gauge = new StallGauge();

const openProxy = async (route: Route): Promise<TcpProxy | UnlimitedProxy> => {
  const journal = new ConnectionJournal(journals[route]);
  const kind = isUnlimited ? UnlimitedProxy : TcpProxy;
  const proxy = await kind.listen({
    scheduler,
    upstreamPort: upstreamPorts[route],
    timeouts,
    ...(route === 'secure' ? { tls: pskServer() } : {}),
    port: ports[route],
    reusePort,
    maxConnections: NO_MAXIMUM,
    onAccept: (start) => journal.noteAccepted(start),
    onEnd: (end) => journal.noteEnded(end),
  });
  journal.noteListening(proxy.port);
  return proxy;
};

const proxies = await Promise.all(routes.map(openProxy));
parentPort?.postMessage(Object.fromEntries(routes.map((route, at) => [route, proxies[at]!.port])));
gauge.start();
if (parentPort !== null) await once(parentPort, 'message'); // that it is over
const stall = gauge.stop();
await Promise.all(proxies.map((proxy) => proxy.close()));
const report: ThreadReport = { timers: await scheduler.stats(), stall };
parentPort?.postMessage(report);
await scheduler.close();
