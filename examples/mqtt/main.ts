// An MQTT broker, aedes, as it is, with its keepalives on shardwheel: the import below is all that makes it so. Clients
// on real sockets publish and ping; one of ten falls silent, and the broker gives it up after one and a half times its
// keepalive.
//
// Measured, as a program of the bench with 100,000 clients (docs/performance.md): no difference in CPU, for keepalives
// are a small part of what a broker does. `SHARDWHEEL_TIMERS=node` keeps Node's ways with long delays and missed calls.
import 'shardwheel/register';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Aedes } from 'aedes';
import { countOption } from '../count-option.ts';
import { MqttClient } from './mqtt-client.ts';

/** s */
const KEEPALIVE = 1;

const clients = countOption('clients', { value: 50, max: 5_000, help: 'clients, of which one in ten falls silent' });
const broker = await Aedes.createBroker();
const givenUp = new Set<string>();
broker.on('keepaliveTimeout', ({ id }) => givenUp.add(id));
const server = createServer(broker.handle).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

const silent = Math.ceil(clients / 10);
const all: MqttClient[] = [];
for (let i = 0; i < clients; i++) all.push(await MqttClient.connect(port, `client ${i}`, KEEPALIVE));
console.log(`connected: ${broker.connectedClients}`);

let delivered = 0;
const [subscriber, ...others] = all.slice(silent);
subscriber.onMessage = () => {
  delivered += 1;
};
await subscriber.subscribe('news');
await Promise.all(others.map((client, i) => client.publish('news', `message ${i}`)));
for (let i = 0; delivered < others.length && i < 100; i++) await sleep(10);
console.log(`messages delivered: ${delivered} of ${others.length}`);

for (let half = 0; half < 6; half++) {
  for (const client of all.slice(silent)) client.ping();
  await sleep((KEEPALIVE * 1000) / 2);
}
const wrong = all.filter(({ isClosed }, i) => isClosed !== i < silent).length;
console.log(`silent clients given up: ${givenUp.size} of ${silent}, wrong: ${wrong}`);

for (const client of all) client.close();
await new Promise<void>((resolve) => broker.close(() => resolve()));
server.close();
await once(server, 'close');
console.log('closed');
