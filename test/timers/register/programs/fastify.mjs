// fastify under load: each request with a deadline of its own, some answered after a sleep, some given up.
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { inParallel, report, Tally } from './report.mjs';

const tally = new Tally();
const app = Fastify({ requestTimeout: 60_000, connectionTimeout: 60_000, keepAliveTimeout: 60_000 });
const deadlines = new WeakMap();
app.addHook('onRequest', (request, reply, done) => {
  const deadline = setTimeout(() => reply.code(503).send({ n: 'late' }), request.url === '/stuck' ? 20 : 60_000);
  deadlines.set(request, deadline);
  done();
});
app.addHook('onResponse', (request, _reply, done) => {
  clearTimeout(deadlines.get(request));
  done();
});
app.get('/now/:n', (request) => Promise.resolve({ n: request.params.n }));
app.get('/later/:n', async (request) => {
  await sleep(Number(request.params.n) % 7);
  return { n: request.params.n };
});
app.get('/stuck', (_request, reply) => reply); // whose deadline answers
app.register(
  (_instance, _options, done) => setTimeout(done, 5), // a plugin that takes its time
);
await app.listen({ host: '127.0.0.1', port: 0 });

const agent = new Agent({ keepAlive: true, maxSockets: 50 });
const { port } = app.server.address();
const ask = (path) =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve([response.statusCode, JSON.parse(body).n]));
    }).on('error', reject);
  });
await inParallel(2000, 50, async (n) => {
  const path = n % 100 === 99 ? '/stuck' : `/${n % 2 === 0 ? 'now' : 'later'}/${n}`;
  const [status, answer] = await ask(path);
  tally.add(`${status} ${answer === String(n) ? 'its own' : answer}`);
});
agent.destroy();
await app.close();
report(tally.counts);
