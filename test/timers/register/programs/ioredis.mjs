// ioredis against a server of its own: load, commands that are never answered, and connections that are dropped.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { inParallel, report, Tally } from './report.mjs';

const tally = new Tally();
const stored = new Map();
const bulk = (value) => (value === undefined ? '$-1\r\n' : `$${Buffer.byteLength(value)}\r\n${value}\r\n`);
const answers = {
  INFO: () => bulk('redis_version:7.0.0\r\nloading:0\r\n'),
  SET: (key, value) => {
    stored.set(key, value);
    return '+OK\r\n';
  },
  GET: (key) => (key === 'stuck' ? '' : bulk(stored.get(key))),
  HELLO: () => `%1\r\n${bulk('proto')}:3\r\n`,
};

/** Whole commands at the head of a text, and what is left of it. */
function parse(text) {
  const commands = [];
  for (;;) {
    const head = /^\*(\d+)\r\n/.exec(text);
    if (head === null) return [commands, text];
    let rest = text.slice(head[0].length);
    const words = [];
    while (words.length < Number(head[1])) {
      const size = /^\$(\d+)\r\n/.exec(rest);
      const begin = size?.[0].length;
      if (size === null || rest.length < begin + Number(size[1]) + 2) return [commands, text];
      words.push(rest.slice(begin, begin + Number(size[1])));
      rest = rest.slice(begin + Number(size[1]) + 2);
    }
    commands.push(words);
    text = rest;
  }
}

const server = createServer((socket) => {
  let unread = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    const [commands, rest] = parse(unread + chunk);
    unread = rest;
    for (const [name, ...words] of commands) {
      if (name.toUpperCase() === 'SET' && words[0] === 'drop') socket.destroy();
      else if (name.toUpperCase() === 'QUIT') socket.end('+OK\r\n');
      else socket.write(answers[name.toUpperCase()]?.(...words) ?? '+OK\r\n');
    }
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');

let retries = 0;
const options = {
  host: '127.0.0.1',
  port: server.address().port,
  commandTimeout: 60_000,
  connectTimeout: 60_000,
  maxRetriesPerRequest: 0,
  retryStrategy: () => {
    retries += 1;
    return 20;
  },
};
const clients = Array.from({ length: 50 }, () => new Redis(options));
await inParallel(2000, 50, async (n) => {
  const client = clients[n % clients.length];
  await client.set(`key ${n}`, `value ${n}`);
  tally.add((await client.get(`key ${n}`)) === `value ${n}` ? 'its own' : 'another');
});

const impatient = new Redis({ ...options, commandTimeout: 50 });
await impatient.get('stuck').catch(({ message }) => tally.add(message));
impatient.disconnect();

const [dropped] = clients;
await dropped.set('drop', 'the connection').catch(({ name }) => tally.add(`dropped: ${name}`));
await once(dropped, 'ready');
tally.add(`after a retry: ${await dropped.get('key 1')}`);
tally.add(`retries: ${retries}`);
await Promise.all(clients.map((client) => client.quit()));
server.close();
report(tally.counts);
