// undici under load, and its timeouts: for headers and bodies, short and long (which it keeps by its own coarse clock),
// and of idle connections.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Agent, request } from 'undici';
import { inParallel, report, Tally } from './report.mjs';

const tally = new Tally();
const open = new Set();
const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
  if (incoming.url === '/no-headers') return;
  response.writeHead(200);
  if (incoming.url === '/no-body') response.write('a part');
  else response.end(incoming.url);
});
server.on('connection', (socket) => {
  open.add(socket);
  socket.on('close', () => open.delete(socket)).on('error', () => undefined);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${server.address().port}`;
const with_ = (options) => new Agent({ connections: 50, keepAliveTimeout: 60_000, ...options });

const outcome = async (path, dispatcher) => {
  try {
    const { statusCode, body } = await request(`${origin}${path}`, { dispatcher });
    return `${statusCode} ${(await body.text()) === path ? 'its own' : 'another'}`;
  } catch (error) {
    return error.code;
  }
};

const loaded = with_({ keepAliveTimeout: 2000, headersTimeout: 60_000, bodyTimeout: 60_000 });
await inParallel(2000, 50, async (n) => tally.add(await outcome(`/${n}`, loaded)));
const idle = open.size;

const bounded = { short: 800, long: 2500 };
await Promise.all(
  Object.entries(bounded).map(async ([name, delay]) => {
    const dispatcher = with_({ headersTimeout: delay, bodyTimeout: delay });
    const meet = async (path) => {
      const begun = performance.now();
      tally.add(`${name} ${path} ${await outcome(path, dispatcher)}`);
      tally.add(`${name} ${performance.now() - begun >= delay * 0.5 ? 'in time' : 'early'}`);
    };
    await Promise.all(['/no-headers', '/no-body'].map(meet));
    await dispatcher.destroy(); // what has not timed out by then would end otherwise
  }),
);
while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 20)); // the idle ones end by their own time
tally.add(idle > 0 ? 'idle connections were kept, and then closed' : 'none was kept');
await loaded.close();
server.close();
report(tally.counts);
