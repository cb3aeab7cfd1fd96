// Two of these ring each other in turn, and sleep until rung. A ring that is lost ends in silence.
import { parentPort, workerData } from 'node:worker_threads';
import { Doorbell } from '../../../dist/src/lane/doorbell.js';

const { bell, back, rounds, first } = workerData;
const mine = new Doorbell(first ? bell : back);
const theirs = new Doorbell(first ? back : bell);
let heard = mine.rings();
if (first) theirs.ring();
// The other side may have rung before this thread first looked: bells begin at 0.
heard = 0;
let round = 0;
for (; round < rounds; round++) {
  mine.wait(heard, 10_000);
  if (mine.rings() === heard) break;
  heard += 1;
  theirs.ring();
}
parentPort.postMessage(round);
