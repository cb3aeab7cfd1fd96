// Closes its durable timers when it is told that the store has gone, says how that ended, and ends by itself.
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { bullmqStore, openDurableTimers } from '../../../lib/durable.js';

const connection = new Redis(process.argv[2], { maxRetriesPerRequest: null }).on('error', () => undefined);
const timers = await openDurableTimers({
  store: bullmqStore({ connection, queue: 'closing', timeout: 2000 }),
  persistAfter: 60_000,
});
timers.on('error', () => undefined);
timers.handle('a', () => new Promise((resolve) => setTimeout(resolve, 100)));
await timers.schedule('a', 'stored', Date.now(), undefined, { persistAfter: 0 });
await timers.schedule('a', 'young', Date.now() + 1e6);
process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdin.destroy();
const begun = performance.now();
const error = await timers.close().then(
  () => undefined,
  (error) => error,
);
process.stdout.write(JSON.stringify({ code: error?.code, message: error?.message, ms: performance.now() - begun }));
connection.disconnect();
