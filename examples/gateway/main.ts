// An HTTP gateway on fastify, in front of an upstream that answers, hangs or refuses as asked. Shows a deadline per request that ends
// the exchange behind it as well, retries with backoff, an idle timeout per connection, and an orderly end.
//
// Measured, as a program of the bench with a deadline per request (docs/performance.md): the timers are a small part of what a request
// costs, so shardwheel's and Node's come to the same CPU within some percent.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createScheduler } from 'shardwheel';
import { countOption } from '../count-option.ts';
import { Gateway } from './gateway.ts';

const requests = countOption('requests', { value: 100, max: 10_000, help: 'requests that the upstream answers' });

let refusals = 2;
const upstream = createServer(({ url }, response) => {
  if (url === '/hangs') return; // no answer ever
  if (url === '/refuses' && refusals-- > 0) response.writeHead(503).end('not now');
  else response.end(`answer to ${url}`);
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');

const scheduler = createScheduler();
const gateway = new Gateway({
  scheduler,
  upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
  deadline: 2_000,
  idle: 1_000,
  tries: 4,
});
const url = await gateway.listen();
const ask = async (path: string): Promise<string> => {
  const response = await fetch(`${url}${path}`);
  return `${response.status} ${(await response.text()).trim()}`;
};

let answered = 0;
for (let request = 0; request < requests; request += 50) {
  const paths = Array.from({ length: Math.min(50, requests - request) }, (_, i) => `/${request + i}`);
  const answers = await Promise.all(paths.map(ask));
  answered += answers.filter((answer, i) => answer === `200 answer to ${paths[i]}`).length;
}
console.log(`answered: ${answered} of ${requests}`);
console.log('hangs:', await ask('/hangs'));
console.log('refuses twice:', await ask('/refuses'), `after ${gateway.retried} retries`);

const silent = connect(Number(new URL(url).port), '127.0.0.1');
await once(silent, 'close');
console.log('a connection that says nothing: cut');

await gateway.close();
upstream.closeAllConnections();
upstream.close();
await once(upstream, 'close');
console.log('timers left:', (await scheduler.close()).length);
