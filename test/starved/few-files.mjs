// A scheduler where few files may be open: node few-files.mjs <shards> <left>, under `ulimit -n`. So many descriptors are left
// when it is made. In a process for each number: Node loses two with each thread that it cannot start.
import { closeSync, openSync } from 'node:fs';
import { Ledger, report } from './ledger.mjs';

const [shards, left] = process.argv.slice(2).map(Number);
/** With fewer a thread cannot start; with more it can. In between it may start and not find its code. */
const [TOO_FEW, ENOUGH] = [4, 12];
const taken = [];
for (;;) {
  try {
    taken.push(openSync('/dev/null'));
  } catch (error) {
    if (error.code !== 'EMFILE') throw error;
    break;
  }
  if (taken.length > 10_000) throw new Error('run this under ulimit -n');
}
for (let i = 0; i < left; i++) closeSync(taken.pop());

const ledger = new Ledger({ shards, capacity: 4096, thread: { inlineAfter: { deaths: 2, within: 60_000 } } });
const inline = (await ledger.serve()).map((shard) => shard.inline);
for (const file of taken) closeSync(file);
if (left < TOO_FEW && inline.includes(false)) ledger.faults.push(`with ${left} descriptors left a thread was started`);
if (left >= ENOUGH * shards && inline.includes(true)) ledger.faults.push(`${left} descriptors were not enough`);
if (inline.includes(true) && !ledger.errors.some(({ code }) => code === 'ERR_SHARD_INLINE')) {
  ledger.faults.push('inline, and nothing says so');
}
report(ledger.faults, { left, inline, ...ledger.counts });
