// Reads the records that commands name as a shard does, due before tag, while the client ends and starts timers in
// them.
import { parentPort, workerData } from 'node:worker_threads';
import { commandCounters, DUE, RECORD_SHIFT, TAG } from '../../../dist/src/lane/lane-memory.js';
import { RingConsumer } from '../../../dist/src/lane/ring.js';
import { Pause } from './pause.mjs';

const { memory, factor, stop } = workerData;
const table = new Int32Array(memory.table);
const stopped = new Int32Array(stop);
const commands = new RingConsumer(memory.commands, commandCounters(new Int32Array(memory.header)));
const tags = new Int32Array(memory.capacity);
const pause = new Pause();
const faults = [];
let named = 0;
let matched = 0;
let stale = 0;

function read(slot) {
  const due = table[(slot << RECORD_SHIFT) + DUE];
  const tag = table[(slot << RECORD_SHIFT) + TAG];
  if (tag !== tags[slot]) {
    stale += 1;
    return;
  }
  matched += 1;
  if (due !== Math.imul(tag, factor)) faults.push({ slot, tag, due });
}

while (faults.length < 10) {
  const isLast = Atomics.load(stopped, 0) === 1;
  const count = commands.available();
  for (let i = 0; i < count; i++) {
    const at = commands.take();
    const slot = commands.cells[at];
    tags[slot] = commands.cells[at + 1];
    named += 1;
    read(slot);
  }
  commands.release();
  for (let slot = 0; slot < tags.length; slot++) if (tags[slot] !== 0) read(slot);
  if (count === 0) {
    if (isLast) break;
    pause.take();
  }
}
parentPort.postMessage({ named, matched, stale, faults });
