// The thread of event-loop.ts: a proxy for each route, with timers on the shards of the main thread's scheduler.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { connectScheduler } from 'shardwheel';
import { TcpProxy } from '../../examples/tcp-proxy/proxy.ts';
import { ConnectionJournal } from './connection-journal.ts';
import type { ThreadSetup } from './event-loop.ts';
import { type Route, routes } from './plans.ts';

const { handle, ports, reusePort, upstreamPorts, timeouts, journals }: ThreadSetup = workerData;
const scheduler = connectScheduler(handle);

const openProxy = (route: Route): Promise<TcpProxy> => {
  const journal = new ConnectionJournal(journals[route]);
  return TcpProxy.listen({
    scheduler,
    upstreamPort: upstreamPorts[route],
    timeouts,
    port: ports[route],
    reusePort,
    onAccept: (start) => journal.noteAccepted(start),
    onEnd: (end) => journal.noteEnded(end),
  });
};

const proxies = await Promise.all(routes.map(openProxy));
parentPort?.postMessage(Object.fromEntries(routes.map((route, at) => [route, proxies[at]!.port])));
if (parentPort !== null) await once(parentPort, 'message'); // that it is over
await Promise.all(proxies.map((proxy) => proxy.close()));
parentPort?.postMessage(await scheduler.stats());
await scheduler.close();
