// A process that opens a store, or commits to it, through its gate as often as it may, until it is killed as it does.
// It says what it has done, and what it has found beside it: who opens leaves its process id in `inside` for so long.
import { readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { LmdbGate } from '../../../dist/src/extras/durable/table/lmdb-gate.js';

const [path, does] = process.argv.slice(2);
const gate = new LmdbGate(path);
const inside = join(path, 'inside');

/**
 * Says so if another opens, and has not been killed. Of one that has, the kernel first says Z, and X as its parent
 * waits for it.
 */
function look() {
  try {
    const opener = readlinkSync(inside);
    const hasEnded = /^[ZX]$/.test(readFileSync(`/proc/${opener}/stat`, 'utf8').split(' ')[2]);
    if (opener !== `${process.pid}` && !hasEnded) process.stdout.write(`${process.pid} ${does} beside ${opener}\n`);
  } catch {
    // nobody does, or it has ended
  }
}

async function work() {
  look();
  if (does === 'opens') {
    rmSync(inside, { force: true });
    symlinkSync(`${process.pid}`, inside);
  }
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
  look();
  if (Math.random() < 0.05) process.kill(process.pid, 'SIGKILL');
  if (does === 'opens') rmSync(inside, { force: true });
}

const patience = { time: 30_000, error: () => new Error(`${process.pid} has not been let in`) };
if (does === 'commits') await gate.opened(async () => undefined, patience);
for (;;) {
  if (does === 'commits') await gate.committed(work);
  else await gate.opened(work, patience);
  process.stdout.write(`${does}\n`);
}
