import { once } from 'node:events';
import { connect } from 'node:net';
import { createScheduler } from 'shardwheel';
import { DeadlineClient } from './deadline-client.ts';
import { TimedServer } from './timed-server.ts';

await using scheduler = createScheduler({ shards: 1 });

const server = await TimedServer.listen(
  ({ url }, response) => {
    if (url === '/quick') response.end('hello');
    else response.write('and then nothing'); // the rest of the answer never comes
  },
  { scheduler, headers: 200, keepAlive: 100 },
);
const client = new DeadlineClient({ scheduler, deadline: 400 });
const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;

console.log('quick:', (await client.get(at('/quick'))).body);
console.log('slow:', String(await client.get(at('/slow')).catch((error) => error)));

const silent = connect({ port: server.port, host: '127.0.0.1' });
const [refusal] = await once(silent, 'data');
console.log('without a request:', String(refusal).split('\r\n', 1)[0]);

const idle = connect({ port: server.port, host: '127.0.0.1' });
idle.write('GET /quick HTTP/1.1\r\nHost: example\r\n\r\n');
idle.resume();
await once(idle, 'close');
console.log('after an answer: closed');

await server.close();
console.log('timers left:', scheduler.size);
