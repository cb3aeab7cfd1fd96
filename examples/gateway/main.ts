// A gateway for HTTP/1 and HTTP/2 on fastify, in front of an upstream that answers, hangs or refuses as asked. Shows a
// deadline per request that ends the exchange behind it as well, as a client does that is gone; retries with backoff;
// limits of each connection and session, beside Node's own; a drain.
//
// With a deadline per request timers are a small part of what a request costs. docs/figures.md, "Loading", has such a
// gateway, plain and with `shardwheel/register`, which leaves so few timers to Node.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectSession } from 'node:http2';
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
  deadline: 4_000,
  headers: 1_000,
  idle: 5_000,
  lifetime: 60_000,
  tries: 4,
});
const [url, url2] = await gateway.listen();
const ask = async (path: string): Promise<string> => {
  const response = await fetch(`${url}${path}`);
  return `${response.status} ${(await response.text()).trim()}`;
};

let answered = 0;
for (let request = 0; request < requests; request += 20) {
  const paths = Array.from({ length: Math.min(20, requests - request) }, (_, i) => `/${request + i}`);
  const answers = await Promise.all(paths.map(ask));
  answered += answers.filter((answer, i) => answer === `200 answer to ${paths[i]}`).length;
}
console.log(`answered: ${answered} of ${requests}`);
console.log('hangs:', await ask('/hangs'));
console.log('refuses twice:', await ask('/refuses'), `after ${gateway.retried} retries`);

const leaving = new AbortController();
const left = fetch(`${url}/hangs`, { signal: leaving.signal }).catch(() => undefined);
await once(upstream, 'request');
leaving.abort();
await left;
while (gateway.abandoned === 0) await new Promise(setImmediate);
console.log('a client that leaves: its exchange with the upstream is ended');

// Headers that never end: Node's part.
const slow = connect(Number(new URL(url).port), '127.0.0.1');
slow.write('GET / HTTP/1.1\r\nhost: gateway\r\n');
const dribble = setInterval(() => slow.write('x'), 100);
const [refusal] = await once(slow, 'data');
clearInterval(dribble);
slow.destroy();
console.log('headers that never end:', String(refusal).split('\r\n', 1)[0]);

// A session that does nothing: ours.
const session = connectSession(url2);
session.on('error', () => undefined);
const closed = new Promise((resolve) => session.once('close', resolve));
const stream = session.request({ ':path': '/h2' });
const [headers] = await once(stream, 'response');
stream.resume();
console.log('http2:', headers[':status']);
await closed;
console.log('an idle session: cut,', gateway.counts.idle.timedOut > 0);

const late = ask('/hangs');
await once(upstream, 'request');
const drained = gateway.drain(10_000);
console.log('under way when it drains:', await late);
console.log('cut by the drain:', (await drained).cut);
upstream.closeAllConnections();
upstream.close();
await once(upstream, 'close');
console.log('timers left:', (await scheduler.close()).length);
