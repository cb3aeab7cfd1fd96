// Sends numbered commands as fast as the ring takes them, in batches of all sizes, and checks the echo of each.
import { parentPort, workerData } from 'node:worker_threads';
import { commandCounters, firedCounters } from '../../../dist/src/lane/lane-memory.js';
import { RingConsumer, RingProducer } from '../../../dist/src/lane/ring.js';
import { draws, Pause } from './pause.mjs';

const { memory, beside, records, canary } = workerData;
const header = new Int32Array(memory.header);
const commands = new RingProducer(memory.commands, commandCounters(header));
const echoes = new RingConsumer(memory.fired, firedCounters(header));
const written = new Int32Array(beside);
const draw = draws(1);
const pause = new Pause();
const faults = [];
let sent = 0;
let received = 0;

while (received < records && faults.length === 0) {
  let batch = Math.min(1 + (draw() % 1000), records - sent);
  for (; batch > 0 && commands.room() > 0; batch--) {
    written[sent % written.length] = sent; // a plain write beside the ring: publish() must release it too
    commands.pushFour(sent, sent ^ canary, ~sent, sent);
    sent += 1;
  }
  const isNews = commands.publish();
  const count = Math.min(echoes.available(), 1 + (draw() % 1000));
  for (let i = 0; i < count; i++) {
    const at = echoes.take();
    const [number, check] = [echoes.cells[at], echoes.cells[at + 1]];
    if (number !== received || check !== (received ^ canary)) faults.push({ received, number, check });
    received += 1;
  }
  if (count > 0) echoes.release();
  if (!isNews && count === 0) pause.take();
}
parentPort.postMessage({ sent, received, faults });
