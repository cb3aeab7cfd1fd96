// Handles 'a' in the LMDB store of a folder; says when its handler begins, and with which code its signal aborts.
import { lmdbStore, openDurableTimers } from '../../../lib/durable.js';

const timers = await openDurableTimers({ store: lmdbStore({ path: process.argv[2] }) });
timers.on('error', () => undefined);
timers.handle('a', async (_, { signal }) => {
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
  process.stdout.write('begun\n');
  await aborted;
  process.stdout.write(`${signal.reason.code}\n`);
});
process.stdout.write('open\n');
process.stdin.on('end', () => timers.close()).resume();
