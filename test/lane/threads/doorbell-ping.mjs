// Two of these ring each other in turn, and sleep until rung. A ring that is lost is waited for until the test gives
// up.
import { parentPort, workerData } from 'node:worker_threads';
import { Doorbell } from '../../../dist/src/lane/doorbell.js';

const { bell, back, rounds, first } = workerData;
const mine = new Doorbell(first ? bell : back);
const theirs = new Doorbell(first ? back : bell);
let heard = mine.rings();
if (first) theirs.ring();
// The other side may have rung before this thread first looked: bells begin at 0.
heard = 0;
for (let round = 0; round < rounds; round++) {
  // The last ring may end two waits: it counts before one begins, and notifies once that has returned and the next has
  // begun.
  while (mine.rings() === heard) mine.wait(heard, Number.POSITIVE_INFINITY);
  heard += 1;
  theirs.ring();
}
parentPort.postMessage(rounds);
