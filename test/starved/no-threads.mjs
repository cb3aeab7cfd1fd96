// A scheduler where the system gives no more threads: node no-threads.mjs <more>. The process may have so many more than it
// has when its code is loaded. The limit counts the threads of the user, and the superuser is exempt: run it as a user of
// its own, or, as any other, with 0. With "try" it only tells, by its exit code, whether threads are refused.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { Ledger, report } from './ledger.mjs';

const isTrial = process.argv[2] === 'try';
const more = isTrial ? 0 : Number(process.argv[2]);
const limit = more === 0 ? 1 : readdirSync('/proc/self/task').length + more;
const { status, stderr } = spawnSync('prlimit', ['--pid', `${process.pid}`, `--nproc=${limit}:`]);
if (status !== 0) throw new Error(`prlimit: ${stderr}`);

const faults = [];
if (more === 0) {
  try {
    await new Worker('', { eval: true }).terminate();
    throw new Error('this user is exempt from the limit');
  } catch (error) {
    if (error.code !== 'ERR_WORKER_INIT_FAILED') throw error;
  }
}
if (isTrial) process.exit(0);
const ledger = new Ledger({ shards: 2, capacity: 4096, thread: { inlineAfter: { deaths: 3, within: 60_000 } } });
const inline = (await ledger.serve()).filter((shard) => shard.inline).length;
if (more === 0 && inline !== 2) faults.push(`${2 - inline} shards have a thread`);
if (
  more === 0 &&
  !ledger.errors.some(({ code, cause }) => code === 'ERR_SHARD_INLINE' && cause?.code === 'ERR_WORKER_INIT_FAILED')
) {
  faults.push(`nothing says that the system refused a thread: ${ledger.errors.map(({ message }) => message)}`);
}
report([...faults, ...ledger.faults], { more, inline, ...ledger.counts });
