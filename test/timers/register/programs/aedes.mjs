// The aedes broker under load, and its keep-alive: clients that ping stay, one that does not is disconnected.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, connect as dial } from 'node:net';
import { Aedes } from 'aedes';
import { report, Tally } from './report.mjs';

const require = createRequire(createRequire(import.meta.url).resolve('aedes'));
const { generate, parser } = require('mqtt-packet');
const tally = new Tally();
const broker = await Aedes.createBroker();
broker.on('keepaliveTimeout', ({ id }) => tally.add(`${id} was given up`));
const server = createServer(broker.handle).listen(0, '127.0.0.1');
await once(server, 'listening');

class Client {
  constructor(id, keepalive) {
    this.waiting = new Map();
    this.socket = dial(server.address().port, '127.0.0.1').setNoDelay();
    this.closed = once(this.socket, 'close');
    this.parser = parser();
    this.parser.on('packet', (packet) => this.take(packet));
    this.socket.on('data', (chunk) => this.parser.parse(chunk)).on('error', () => undefined);
    this.connected = this.ask('connack', {
      cmd: 'connect',
      clientId: id,
      keepalive,
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
    });
  }

  take(packet) {
    if (packet.cmd === 'pingresp') tally.add('ping');
    const name = packet.cmd === 'publish' ? `${packet.topic} ${packet.payload}` : packet.cmd;
    this.waiting.get(name)?.(packet);
    this.waiting.delete(name);
  }

  until(name) {
    return new Promise((resolve) => this.waiting.set(name, resolve));
  }

  send(packet) {
    this.socket.write(generate(packet));
  }

  ask(name, packet) {
    const answer = this.until(name);
    this.send(packet);
    return answer;
  }
}

const MESSAGES = 40;
const clients = Array.from({ length: 50 }, (_, c) => new Client(`client ${c}`, 60));
await Promise.all(
  clients.map(async (client, c) => {
    await client.connected;
    await client.ask('suback', { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: `to/${c}`, qos: 0 }] });
    for (let m = 0; m < MESSAGES; m++) {
      const arrived = client.until(`to/${c} ${m}`);
      const publish = {
        cmd: 'publish',
        topic: `to/${c}`,
        payload: String(m),
        qos: 1,
        messageId: m + 2,
        dup: false,
        retain: false,
      };
      await Promise.all([arrived, client.ask('puback', publish)]);
      tally.add('arrived');
    }
  }),
);
const pinging = new Client('pinging', 1);
const silent = new Client('silent', 1);
await Promise.all([pinging.connected, silent.connected]);
const pings = setInterval(() => pinging.send({ cmd: 'pingreq' }), 100);
await silent.closed;
clearInterval(pings);
tally.add(`${broker.connectedClients} stay`);
for (const { socket } of [...clients, pinging]) socket.end();
await Promise.all([...clients, pinging].map(({ closed }) => closed));
await new Promise((resolve) => broker.close(resolve));
server.close();
report({ ...tally.counts, ping: tally.counts.ping > 0 });
