// A process of the service: `node server-process.js <folder> <lifetime>`. Says the port it listens on, and notes each
// session that expires.
import { appendFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { lmdbStore, openDurableTimers } from 'shardwheel/durable';
import { type SessionTimers, sessionServer } from './session-server.ts';

const [folder, lifetime] = process.argv.slice(2);
const timers = await openDurableTimers<SessionTimers>({ store: lmdbStore({ path: join(folder, 'timers') }) });
timers.on('error', (error) => console.error(error.message));
timers.handle('session-expired', ({ user }, { key: id, deadline }) => {
  // in a service: tell whom it concerns
  appendFileSync(join(folder, 'expired'), `${id} ${user} ${deadline} ${Date.now()}\n`);
});
const server = sessionServer(timers, Number(lifetime));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

process.once('SIGTERM', async () => {
  server.close();
  server.closeAllConnections();
  await timers.close();
  process.disconnect();
});
process.once('disconnect', () => process.exit()); // the process that started it is gone
