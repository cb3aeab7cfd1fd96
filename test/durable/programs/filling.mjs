// Schedules until its disk is full, which `prlimit --fsize` stands for, and then goes on as a program would. Prints
// what it has seen.
import { setImmediate } from 'node:timers/promises';
import { lmdbStore, openDurableTimers } from '../../../lib/durable.js';

const unhandled = [];
process.on('unhandledRejection', (error) => unhandled.push(String(error)));
process.on('SIGXFSZ', () => undefined);
console.error = () => undefined; // lmdb prints the error as well

const timers = await openDurableTimers({ store: lmdbStore({ path: process.argv[2] }) });
const errors = [];
timers.on('error', (error) => errors.push(error.code));
let stored = 0;
const codes = new Set();
while (codes.size === 0) {
  const calls = [];
  while (calls.length < 100) {
    const call = timers.schedule('a', `${stored + calls.length}`, Date.now() + 1e9, 'x'.repeat(200));
    calls.push(
      call.then(
        () => undefined,
        ({ name, code }) => `${name} ${code}`,
      ),
    );
    if (calls.length % 3 === 0) await setImmediate(); // several commits
  }
  for (const failure of await Promise.all(calls)) {
    if (failure === undefined) stored += 1;
    else codes.add(failure);
  }
}
const counted = await timers.count();
const isCancelled = await timers.cancel('a', '0');
await timers.close();
process.stdout.write(JSON.stringify({ stored, counted, isCancelled, codes: [...codes], errors, unhandled }));
