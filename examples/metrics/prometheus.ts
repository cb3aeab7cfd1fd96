import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { register } from 'prom-client';
import { createScheduler } from 'shardwheel';
import { registerMetrics } from 'shardwheel/prometheus';

const scheduler = createScheduler();
registerMetrics(scheduler); // with the registry in which a program's other metrics are

const server = createServer(async (_, response) => {
  response.setHeader('content-type', register.contentType);
  response.end(await register.metrics());
}).listen(Number(process.env.PORT ?? 0), '127.0.0.1');
await once(server, 'listening');

const idle = scheduler.label('idle');
idle.scheduleAfter('connection 1', 60_000, (name) => console.log(`${name}: idle, cut`), 'connection 1');
await new Promise((resolve) => idle.scheduleAfter('connection 2', 20, resolve));

// What Prometheus does every 15 s.
const scrape = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`);
console.log((await scrape.text()).match(/^shardwheel_label_timers_.*/gm)?.join('\n'));

server.close();
await scheduler.close();
