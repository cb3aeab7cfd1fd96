// Rings a client's bell many times, at whatever pace, and counts before each ring.
import { workerData } from 'node:worker_threads';
import { ClientBell } from '../../../dist/src/lane/doorbell.js';

const { memory, count, rings } = workerData;
const bell = new ClientBell(memory);
for (let ring = 1; ring <= rings; ring++) {
  Atomics.store(count, 0, ring);
  bell.ring();
}
