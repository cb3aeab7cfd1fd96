// Checks numbered commands for gaps, doubles and torn records, and echoes each.
import { parentPort, workerData } from 'node:worker_threads';
import { commandCounters, firedCounters } from '../../../dist/src/lane/lane-memory.js';
import { RingConsumer, RingProducer } from '../../../dist/src/lane/ring.js';
import { draws, Pause } from './pause.mjs';

const { memory, beside, records, canary } = workerData;
const header = new Int32Array(memory.header);
const commands = new RingConsumer(memory.commands, commandCounters(header));
const echoes = new RingProducer(memory.fired, firedCounters(header));
const written = new Int32Array(beside);
const draw = draws(2);
const pause = new Pause();
const faults = [];
let received = 0;

while (received < records && faults.length === 0) {
  const count = Math.min(commands.available(), echoes.exactRoom(), 1 + (draw() % 1000));
  for (let i = 0; i < count; i++) {
    const at = commands.take();
    const [number, check, inverse, last] = commands.cells.subarray(at, at + 4);
    if (number !== received || check !== (number ^ canary) || inverse !== ~number || last !== number) {
      faults.push({ received, number, check, inverse, last });
    }
    const seen = written[number % written.length];
    if (seen < number) faults.push({ number, seen });
    echoes.pushPair(number, number ^ canary);
    received += 1;
  }
  if (count > 0) commands.release();
  if (!echoes.publish() && count === 0) pause.take();
}
parentPort.postMessage({ received, faults });
