// Starts and ends timers as fast as it can. Each timer's due word follows from its tag, and is written once.
import { parentPort, workerData } from 'node:worker_threads';
import { commandCounters } from '../../../dist/src/lane/lane-memory.js';
import { RingProducer } from '../../../dist/src/lane/ring.js';
import { TimerTable } from '../../../dist/src/lane/timer-table.js';
import { timerIdLayout } from '../../../dist/src/timer-id.js';
import { draws, Pause } from './pause.mjs';

const { memory, timers, factor, stop } = workerData;
const table = new TimerTable(memory, timerIdLayout(1, memory.capacity), 0, 2 ** 31 - 1000);
const commands = new RingProducer(memory.commands, commandCounters(new Int32Array(memory.header)));
const stopped = new Int32Array(stop);
const draw = draws(3);
const pause = new Pause();
const live = [];
let started = 0;
while (started < timers) {
  while (commands.room() === 0) pause.take();
  const slot = live.length < memory.capacity ? table.allocate(0, 0) : -1;
  if (slot >= 0) {
    // The tag is known once the slot is: written again here, before the command that names it is published.
    table.move(slot, started, Math.imul(table.tagOf(slot), factor));
    commands.pushPair(slot, table.tagOf(slot));
    if (draw() % 4 === 0) commands.publish();
    live.push(slot);
    started += 1;
  }
  while (live.length > 0 && (slot < 0 || draw() % 4 === 0)) {
    const at = draw() % live.length;
    table.free(live[at]);
    live[at] = live[live.length - 1];
    live.pop();
    if (live.length < memory.capacity) break;
  }
}
commands.publish();
Atomics.store(stopped, 0, 1);
parentPort.postMessage({ started, size: table.size, live: live.length });
