import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AggregatorRegistry } from 'prom-client';
import { createScheduler } from 'shardwheel';
import { registerMetrics } from 'shardwheel/prometheus';

const processes = new AggregatorRegistry(); // in each of them: here it asks, there it answers

if (cluster.isPrimary) {
  const workers = [cluster.fork(), cluster.fork()];
  await Promise.all(workers.map((worker) => once(worker, 'message'))); // each has started its timers

  const server = createServer(async (_, response) => {
    response.setHeader('content-type', processes.contentType);
    response.end(await processes.clusterMetrics());
  }).listen(Number(process.env.PORT ?? 0), '127.0.0.1');
  await once(server, 'listening');

  // What Prometheus does every 15 s.
  const scrape = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`);
  console.log((await scrape.text()).match(/^shardwheel_label_(timers_live|factor).*/gm)?.join('\n'));

  server.close();
  for (const worker of workers) worker.disconnect();
} else {
  const scheduler = createScheduler({ shards: 0 }); // a process for each core
  registerMetrics(scheduler);
  const idle = scheduler.label('idle', { min: 5_000 });
  for (const connection of [1, 2, 3]) idle.scheduleAfter(connection, 60_000, (name) => console.log(name), connection);
  if (cluster.worker?.id === 1) await idle.setScale(0.5); // its memory is short
  process.send?.('started');
  process.once('disconnect', () => scheduler.close());
}
