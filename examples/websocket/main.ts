// A WebSocket server with heartbeats, and clients on real sockets: most answer pings, one of ten does not. Shows one
// timer per peer, slack, and dead peers that are terminated; a client that lost its server connects again, with
// backoff.
//
// Measured, as a program of the bench (docs/performance.md): a heartbeat per connection costs about as much on Node's
// timers. What slack brings is fewer wakes: see "Slack" there.
import { once } from 'node:events';
import { createScheduler } from 'shardwheel';
import WebSocket from 'ws';
import { countOption } from '../count-option.ts';
import { HeartbeatServer } from './heartbeat-server.ts';

const PERIOD = 800;
const BEATS = 4;

const connections = countOption('connections', {
  value: 200,
  max: 5_000,
  help: 'clients, of which one in ten is silent',
});
const scheduler = createScheduler();
const server = await HeartbeatServer.listen(scheduler, PERIOD);

/** Connects, and again after 50 ms, 100 ms and so on, as long as that fails. */
async function connect(url: string, options: WebSocket.ClientOptions = {}, tries = 5): Promise<WebSocket> {
  for (let tried = 0; ; tried++) {
    const socket = new WebSocket(url, options);
    try {
      await once(socket, 'open');
      return socket;
    } catch (error) {
      if (tried === tries) throw error;
      await new Promise<void>((resolve) => scheduler.scheduleAfter(url, 50 * 2 ** tried, () => resolve()));
    }
  }
}

const silent = Math.ceil(connections / 10);
const sockets: WebSocket[] = [];
for (let i = 0; i < connections; i++) sockets.push(await connect(server.url, { autoPong: i >= silent }));
console.log(`connected: ${server.connected}`);

await new Promise<void>((resolve) => scheduler.scheduleAfter('run', PERIOD * BEATS, () => resolve()));
const wrong = sockets.filter(({ readyState }, i) => (readyState === WebSocket.OPEN) !== i >= silent).length;
console.log(`silent peers terminated: ${server.terminated} of ${silent}`);
console.log(`peers that answer and live: ${server.connected} of ${connections - silent}, wrong: ${wrong}`);
console.log(`each was pinged: ${server.pings >= connections * 2}`);

const lost = once(sockets[connections - 1], 'close');
await server.close();
await lost;
const again = await HeartbeatServer.listen(scheduler, PERIOD);
const socket = await connect(again.url);
socket.send('here again');
console.log('after a reconnect:', String((await once(socket, 'message'))[0]));
socket.terminate();
await again.close();
while (scheduler.size > 0) await new Promise(setImmediate); // sockets cancel their timers as they close
console.log('timers left:', (await scheduler.close()).length);
