// One event loop of several-loops.ts: a proxy, with timers on the scheduler of the main thread.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { connectScheduler } from 'shardwheel';
import { TcpProxy } from './proxy.ts';

const { handle, port, reusePort, upstreamPort, timeouts } = workerData;
const scheduler = connectScheduler(handle);
const proxy = await TcpProxy.listen({ scheduler, port, reusePort, upstreamPort, timeouts });
parentPort?.postMessage(proxy.port);
if (parentPort !== null) await once(parentPort, 'message'); // that it is over
await proxy.close();
parentPort?.postMessage(proxy.accepted);
await scheduler.close();
