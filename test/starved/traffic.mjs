// Steady traffic on two shards: node traffic.mjs <seconds> [hangTimeout]. Prints a line when the threads are up. However the
// process is stopped meanwhile, no thread must be replaced.
import { Ledger, pass, report } from './ledger.mjs';

const [seconds, hangTimeout = '5000'] = process.argv.slice(2);
const ledger = new Ledger({ shards: 2, capacity: 2 ** 18, thread: { hangTimeout: Number(hangTimeout) } });
await ledger.scheduler.ready;
process.stdout.write('ready\n');
const end = performance.now() + Number(seconds) * 1000;
let longestGap = 0;
for (let from = performance.now(); performance.now() < end; ) {
  const first = ledger.timers.length;
  ledger.scheduleMany(200, 80);
  for (let number = first - 400; number < first + 200; number += 7) {
    if (number < 0 || !ledger.timers[number].isOpen) continue;
    if (number % 2 === 0) ledger.cancel(number);
    else ledger.move(number, number % 60);
  }
  await pass(10);
  longestGap = Math.max(longestGap, performance.now() - from);
  from = performance.now();
}
await ledger.settle();
ledger.scheduleMany(100, 1e7);
const deaths = (await ledger.scheduler.stats()).shards.map((shard) => shard.deaths);
await ledger.close();
if (deaths.some((count) => count > 0)) ledger.faults.push(`threads died: ${deaths}`);
if (ledger.handedBack < 99) ledger.faults.push(`close() has handed back ${ledger.handedBack} timers`); // the first has delay 0
report(ledger.faults, { ...ledger.counts, longestGap: Math.round(longestGap) });
