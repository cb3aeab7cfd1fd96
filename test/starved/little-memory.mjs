// A scheduler where the address space is limited: node little-memory.mjs <shards> <capacity, or "default"> <MiB> <outcome>. The
// process may grow by so many MiB from what it has when its code is loaded: then the scheduler is "refused", or "served".
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isClear, Ledger, report } from './ledger.mjs';

const [shards, capacity, room, outcome] = process.argv.slice(2);
const options = {
  shards: Number(shards),
  ...(capacity === 'default' ? {} : { capacity: Number(capacity) }),
};
/** Its code is loaded, and the pool's, which is loaded when a thread is first made. */
await new Ledger({ shards: 0, capacity: 16 }).close();
const size = Number(/VmSize:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
const { status, stderr } = spawnSync('prlimit', ['--pid', `${process.pid}`, `--as=${size + Number(room) * 2 ** 20}`]);
if (status !== 0) throw new Error(`prlimit: ${stderr}`);

let ledger;
try {
  ledger = new Ledger(options);
} catch (error) {
  const isExpected = error.code === 'ERR_ALLOCATION_FAILED' && isClear(error) && /\d+ bytes/.test(error.message);
  const faults = isExpected ? [] : [`not clear: ${error.stack}`];
  report(outcome === 'refused' ? faults : [...faults, 'it is refused'], { message: error.message });
}
if (ledger !== undefined) {
  const inline = (await ledger.serve()).map((shard) => shard.inline);
  if (outcome !== 'served') ledger.faults.push('it is not refused');
  if (shards !== '0' && inline.includes(true)) ledger.faults.push('it has no threads');
  report(ledger.faults, { inline, ...ledger.counts });
}
