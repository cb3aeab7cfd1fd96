import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DurableStoreError } from 'shardwheel/durable';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { LmdbGate } from '../../src/extras/durable/table/lmdb-gate.ts';
import { newIdentity } from '../../src/extras/durable/table/thread-identity.ts';
import { latch } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

/** However busy this machine is. */
const soon = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 5 });

let path: string;
const gates: LmdbGate[] = [];
beforeEach(() => {
  path = newFolder();
  writeFileSync(join(path, 'data.mdb'), '');
});
afterEach(async () => {
  for (const gate of gates.splice(0)) gate.close();
  await soon(() => expect(readdirSync(join(path, 'gate'), { recursive: true })).toEqual(['commits']));
});

function newGate(): LmdbGate {
  const gate = new LmdbGate(path);
  gates.push(gate);
  return gate;
}

/** A gate of a store that is open. */
async function openGate(): Promise<LmdbGate> {
  const gate = newGate();
  await gate.opened(async () => undefined, within(1000));
  await soon(() => expect(readdirSync(join(path, 'gate'))).toEqual(['commits']));
  return gate;
}

const within = (time: number) => ({ time, error: () => new DurableStoreError('ERR_STORE_FAILED', 'too late') });

test('who opens gives up in time while another is busy', async () => {
  const { opened, open } = latch();
  const committed = (await openGate()).committed(() => opened);
  await expect(newGate().opened(async () => 'opened', within(50))).rejects.toThrow('too late');
  open();
  await committed;
  expect(await newGate().opened(async () => 'opened', within(50))).toBe('opened');
});

/** An identity of this namespace. */
const like = (thread: string): string => newIdentity().replace(/^\d+-\d+-\d+/, thread);

/** Of a process that has ended, though its parent has not looked. */
async function zombie(): Promise<string> {
  const parent = spawn('sh', ['-c', 'sleep 300 & echo $!; exec sleep 300']);
  onTestFinished(() => void parent.kill());
  const pid = Number((await once(parent.stdout, 'data'))[0]);
  // The shell would look, and nothing be left of it.
  await soon(() => expect(readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n'));
  process.kill(pid, 'SIGKILL');
  const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
  await soon(() => expect(stat()[2]).toBe('Z'));
  return like(`${pid}-${pid}-${stat()[21]}`);
}

test.each([
  ['that has ended', () => like('4194303-4194303-1')],
  ['that had the number of one that lives', () => like(newIdentity().replace(/(\d+-\d+)-.*/, '$1-1'))],
  ['that nobody has waited for', zombie],
])('what a process has left %s is removed', async (_, identityOf) => {
  const [gate, identity] = [await openGate(), await identityOf()];
  const left = (folder: string): void => writeFileSync(join(path, 'gate', folder, identity), '1');
  mkdirSync(join(path, 'gate/openings'));
  for (const folder of ['commits', 'openings']) left(folder);
  expect(await gate.committed(async () => 'committed')).toBe('committed');
  for (const folder of ['commits', 'openings']) left(folder);
  expect(await newGate().opened(async () => 'opened', within(1000))).toBe('opened');
});

test('a commit that fails leaves nobody busy', async () => {
  await expect((await openGate()).committed(() => Promise.reject(new Error('full')))).rejects.toThrow('full');
  expect(await newGate().opened(async () => 'opened', within(50))).toBe('opened');
});
