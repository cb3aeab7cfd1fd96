// ws under load, with the heartbeat of its README: the server terminates clients that do not answer its pings, clients
// terminate connections that bring no pings.
import { once } from 'node:events';
import WebSocket, { WebSocketServer } from 'ws';
import { report, Tally } from './report.mjs';

const PERIOD = 100;
const PATIENCE = 5000;
const tally = new Tally();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
const url = `ws://127.0.0.1:${server.address().port}`;

server.on('connection', (socket) => {
  socket.isAlive = true;
  socket.on('pong', () => {
    socket.isAlive = true;
  });
  socket.on('message', (message) => socket.send(String(message)));
});
let rounds = 0;
const heartbeat = setInterval(() => {
  rounds += 1;
  for (const socket of server.clients) {
    if (!socket.isAlive && socket.isSilent) {
      tally.add('terminated by the server');
      socket.terminate();
    } else if (!socket.isPingless) {
      socket.isSilent = !socket.isAlive;
      socket.isAlive = false;
      socket.ping();
    }
  }
}, PERIOD);

function connect({ patience = PATIENCE, ...options } = {}) {
  const client = new WebSocket(url, options);
  const beat = () => {
    clearTimeout(client.pingTimeout);
    client.pingTimeout = setTimeout(() => {
      tally.add('terminated by the client');
      client.terminate();
    }, patience);
  };
  client.on('open', beat).on('ping', beat);
  client.on('close', () => clearTimeout(client.pingTimeout));
  return client;
}

const MESSAGES = 40;
const clients = Array.from({ length: 50 }, () => connect());
await Promise.all(
  clients.map(async (client, c) => {
    await once(client, 'open');
    for (let m = 0; m < MESSAGES; m++) {
      client.send(`${c}:${m}`);
      const [echo] = await once(client, 'message');
      tally.add(String(echo) === `${c}:${m}` ? 'its own echo' : 'another');
    }
  }),
);
const mute = connect({ autoPong: false });
await once(mute, 'close');
const [accepted] = await Promise.all([
  once(server, 'connection'),
  connect({ patience: 2 * PERIOD }).on('close', () => tally.add('closed')),
]);
accepted[0].isPingless = true;
await once(accepted[0], 'close');
while (rounds < 10) await new Promise((resolve) => setTimeout(resolve, 10));
tally.add(`${clients.filter((client) => client.readyState === WebSocket.OPEN).length} still open`);
clearInterval(heartbeat);
for (const client of clients) client.close();
await Promise.all(clients.map((client) => once(client, 'close')));
server.close();
report(tally.counts);
