// Moves the wall clock under a scheduler, by libfaketime's file: FAKETIME_TIMESTAMP_FILE=… LD_PRELOAD=… node moved-clock.mjs.
// The system's own clock is left alone.
import { writeFileSync } from 'node:fs';
import { Ledger, pass, report } from './ledger.mjs';

const HOUR = 3_600_000;
const file = process.env.FAKETIME_TIMESTAMP_FILE;
const move = (seconds) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s\n`);
const faults = [];
const moves = [];
for (const shards of [0, 1, 2]) {
  const ledger = new Ledger({ shards, capacity: 2 ** 16, thread: { hangTimeout: 5000 } });
  await ledger.scheduler.ready;
  for (const hours of [1, -1, 24 * 365, 0, -24 * 365 * 20, 0.001, 0]) {
    ledger.scheduleMany(300, 200);
    const before = Date.now();
    const clock = ledger.scheduler.now();
    const began = process.hrtime.bigint();
    move(hours * 3600);
    for (let round = 0; round < 20; round++) {
      ledger.scheduleMany(50, 100);
      await pass(5);
    }
    const byHrtime = Number(process.hrtime.bigint() - began) / 1e6;
    const byScheduler = ledger.scheduler.now() - clock;
    if (Math.abs(byScheduler - byHrtime) > byHrtime + 1000)
      faults.push(`now() moved by ${byScheduler} ms in ${byHrtime} ms`);
    moves.push(Math.round((Date.now() - before) / HOUR));
    await ledger.settle();
  }
  ledger.scheduleMany(20, 1e7);
  await ledger.close();
  if (ledger.restarts.length > 0) faults.push(`${ledger.restarts.length} threads were replaced`);
  faults.push(...ledger.faults.map((fault) => `${shards} shards: ${fault}`));
}
if (!moves.includes(24 * 365 + 1)) faults.push(`the wall clock was not moved: ${moves}`);
report(faults, { moves });
