import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { pass } from '../fixtures/event-loop.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { OutsideLedger } from './outside-ledger.ts';

const program = fileURLToPath(new URL('./noted-process.mjs', import.meta.url));
/** ms: ten minutes in `npm run test:slow`. */
const TIME = process.env.SHARDWHEEL_SLOW === '1' ? 600_000 : 12_000;
const CLIENTS = 3;
/** ms within which a process has ended that was told to. */
const PATIENCE = 90_000;
const folder = temporaryFolder();

type Counts = Record<string, number>;

function add(sums: Counts, counts: Counts): void {
  for (const [what, count] of Object.entries(counts)) sums[what] = (sums[what] ?? 0) + count;
}

/** Runs a process for a while, which is then killed, or told to end; judges what its clients have noted. */
async function round(draws: Draws, isKilled: boolean, sums: Counts): Promise<string[]> {
  const notes = mkdtempSync(join(folder, 'notes-'));
  const given = [notes, draws.below(2 ** 31), draws.below(3), CLIENTS].map(String);
  const child = fork(program, given, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  child.on('message', ({ faults = {} }: { faults?: Counts }) => add(sums, faults));
  const exited = once(child, 'exit');
  await Promise.race([once(child, 'message'), exited]);
  await Promise.race([pass(draws.between(1000, 4000)), exited]);
  if (isKilled) child.kill('SIGKILL');
  else if (child.connected) child.send('end');
  const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  const [code] = await exited;
  clearTimeout(patience);
  const { counts, wrong } = new OutsideLedger(notes);
  add(sums, counts);
  rmSync(notes, { recursive: true });
  return isKilled || code === 0 ? wrong : [...wrong, `the process has exited with ${code}`];
}

test(`every timer is accounted for in another process, whatever is killed, seed ${SEED}`, {
  timeout: TIME + 2 * PATIENCE,
}, async () => {
  const draws = new Draws(SEED);
  const sums: Counts = { processes: 0, killed: 0 };
  for (const end = performance.now() + TIME; performance.now() < end || sums.processes < 3; ) {
    const isKilled = sums.processes % 3 === 2;
    expect(await round(draws, isKilled, sums), JSON.stringify(sums)).toEqual([]);
    sums.processes += 1;
    if (isKilled) sums.killed += 1;
  }
  process.stdout.write(`${JSON.stringify(sums)}\n`);
  const ways = ['delivered', 'cancelled', 'anywhere', 'handed back', 'aborted', 'settled', 'disposed'];
  for (const way of ways) expect(sums[way], way).toBeGreaterThan(0);
  expect(sums).toMatchObject({ heard: expect.any(Number), shards: expect.any(Number) });
});
