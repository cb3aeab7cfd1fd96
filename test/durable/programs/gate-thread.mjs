// A thread that opens the gate of a store, commits some times, and closes it, again and again until it is terminated.
// What it does counts in shared words, by which each checks the others. A thread that is terminated leaves its part in
// them, as it leaves its files: of the others those count that the kernel still has.
//
//     held     of each thread: 0 nothing, 1 opens, 2 commits      tasks    its number in the kernel
//     done     opened, committed, met another
import { existsSync, readlinkSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { LmdbGate } from '../../../dist/src/extras/durable/table/lmdb-gate.js';

const { path, at, held, tasks, done } = workerData;
const [OPENS, COMMITS] = [1, 2];

/** Says so if another does what may not be done beside this. */
function look(does) {
  for (let other = 0; other < held.length; other++) {
    // Its number first: who comes in the place of one that is terminated holds nothing when it writes its own.
    const task = Atomics.load(tasks, other);
    const others = other === at ? 0 : Atomics.load(held, other);
    const isApart = others === OPENS || (others === COMMITS && does === OPENS);
    if (isApart && existsSync(`/proc/self/task/${task}`)) Atomics.add(done, 2, 1);
  }
}

const work = (does) => async () => {
  Atomics.store(held, at, does);
  look(does);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
  look(does);
  Atomics.store(held, at, 0);
  Atomics.add(done, does - 1, 1);
};
const patience = { time: 60_000, error: () => new Error(`thread ${at} has not been let in`) };

Atomics.store(held, at, 0);
Atomics.store(tasks, at, Number(readlinkSync('/proc/thread-self').split('/')[2]));
parentPort.postMessage('begins');
for (;;) {
  const gate = new LmdbGate(path);
  await gate.opened(work(OPENS), patience);
  for (let left = Math.random() * 8; left > 0; left--) await gate.committed(work(COMMITS));
  gate.close();
}
