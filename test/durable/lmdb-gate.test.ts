import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DurableStoreError } from 'shardwheel/durable';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { LmdbGate } from '../../src/durable/table/lmdb-gate.ts';
import { newIdentity } from '../../src/durable/table/thread-identity.ts';
import { latch, pause } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

let path: string;
const gates: LmdbGate[] = [];
beforeEach(() => {
  path = newFolder();
});
afterEach(async () => {
  for (const gate of gates.splice(0)) gate.close();
  await vi.waitFor(() => expect(readdirSync(join(path, 'gate'), { recursive: true })).toEqual(['commits']));
});

function newGate(): LmdbGate {
  const gate = new LmdbGate(path);
  gates.push(gate);
  return gate;
}

const within = (time: number) => ({ time, error: () => new DurableStoreError('ERR_STORE_FAILED', 'too late') });

test('nobody commits while a store is opened, and nobody opens it while another does or commits', async () => {
  let [opening, committing] = [0, 0];
  const seen = { opened: 0, committed: 0 };
  const work = async (gate: LmdbGate, at: number): Promise<void> => {
    for (let left = 20; left > 0; left--) {
      if ((at + left) % 3 === 0) {
        await gate.opened(async () => {
          opening += 1;
          expect([opening, committing]).toEqual([1, 0]);
          await pause(1);
          expect([opening, committing]).toEqual([1, 0]);
          opening -= 1;
          seen.opened += 1;
        }, within(60_000));
      } else {
        await gate.committed(async () => {
          committing += 1;
          expect(opening).toBe(0);
          await pause(1);
          expect(opening).toBe(0);
          committing -= 1;
          seen.committed += 1;
        });
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, (_, at) => work(newGate(), at)));
  expect(seen.opened + seen.committed).toBe(120);
  expect(Math.min(seen.opened, seen.committed)).toBeGreaterThan(20);
});

test('who opens gives up in time while another is busy', async () => {
  const { opened, open } = latch();
  const committed = newGate().committed(() => opened);
  await expect(newGate().opened(async () => 'opened', within(50))).rejects.toThrow('too late');
  open();
  await committed;
  expect(await newGate().opened(async () => 'opened', within(50))).toBe('opened');
});

/** Of a process that has ended, though its parent has not looked. */
async function zombie(): Promise<string> {
  const parent = spawn('sh', ['-c', 'sleep 300 & echo $!; exec sleep 300']);
  onTestFinished(() => void parent.kill());
  const pid = Number((await once(parent.stdout, 'data'))[0]);
  process.kill(pid, 'SIGKILL');
  const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
  await vi.waitFor(() => expect(stat()[2]).toBe('Z'));
  return `${pid}-${pid}-${newIdentity().split(/[-.]/)[2]}.${stat()[21]}-x`;
}

test.each([
  ['that has ended', () => '4194303-4194303-dead.1-x'],
  ['that had the number of one that lives', () => newIdentity().replace(/\.\d+/, '.1')],
  ['that nobody has waited for', zombie],
])('what a process has left %s is removed', async (_, identityOf) => {
  const [gate, identity] = [newGate(), await identityOf()];
  const left = (folder: string): void => writeFileSync(join(path, 'gate', folder, identity), '1');
  mkdirSync(join(path, 'gate/openings'));
  for (const folder of ['commits', 'openings']) left(folder);
  expect(await gate.committed(async () => 'committed')).toBe('committed');
  for (const folder of ['commits', 'openings']) left(folder);
  expect(await newGate().opened(async () => 'opened', within(1000))).toBe('opened');
});

test('a commit that fails leaves nobody busy', async () => {
  await expect(newGate().committed(() => Promise.reject(new Error('full')))).rejects.toThrow('full');
  expect(await newGate().opened(async () => 'opened', within(50))).toBe('opened');
});
