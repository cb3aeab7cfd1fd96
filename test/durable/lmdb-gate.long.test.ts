import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { DurableStoreError } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { LmdbGate } from '../../src/extras/durable/table/lmdb-gate.ts';
import { pause } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

const program = fileURLToPath(new URL('./programs/gated.mjs', import.meta.url));
const threadProgram = new URL('./programs/gate-thread.mjs', import.meta.url);

function storeFolder(): string {
  const path = newFolder();
  writeFileSync(join(path, 'data.mdb'), '');
  return path;
}

test.skipIf(process.platform !== 'linux')(
  'processes that open a store or commit, and are killed as they do, find nobody else who opens it',
  async () => {
    const [path, end] = [storeFolder(), performance.now() + 12_000];
    let said = '';
    const timesOf = (does: string): number => said.split('\n').filter((line) => line === does).length;
    const isOver = (): boolean => performance.now() >= end && timesOf('opens') > 50 && timesOf('commits') > 50;
    const keepOne = async (does: string): Promise<void> => {
      while (!isOver()) {
        const child = spawn(process.execPath, [program, path, does], { stdio: ['ignore', 'pipe', 'inherit'] });
        child.stdout.on('data', (text) => {
          said += text;
        });
        expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
      }
    };
    await Promise.all(['opens', 'opens', 'opens', 'opens', 'commits', 'commits'].map(keepOne));
    expect(said.split('\n').filter((line) => line.includes('beside'))).toEqual([]);
  },
);

test.skipIf(process.platform !== 'linux')(
  'threads of one process that open a store, commit, close and are terminated find nobody else who opens it',
  async () => {
    const [path, end] = [storeFolder(), performance.now() + 12_000];
    const shared = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length));
    const [held, tasks, done] = [shared(6), shared(6), shared(3)];
    let ended = 0;
    const isOver = (): boolean => performance.now() >= end && Math.min(done[0], done[1]) > 100 && ended > 30;
    const keepOne = async (at: number): Promise<void> => {
      while (!isOver()) {
        const thread = new Worker(threadProgram, { workerData: { path, at, held, tasks, done } });
        await once(thread, 'message'); // it has begun; rejects if it fails
        const failed = once(thread, 'error').then(([error]) => Promise.reject(error));
        failed.catch(() => undefined); // as it is terminated
        await Promise.race([pause(Math.random() * 500), failed]);
        await thread.terminate();
        ended += 1;
      }
    };
    await Promise.all(Array.from(held, (_, at) => keepOne(at)));
    const [, , met] = done;
    expect(met).toBe(0);
    const gate = new LmdbGate(path);
    await gate.opened(async () => undefined, {
      time: 10_000,
      error: () => new DurableStoreError('ERR_STORE_FAILED', 'late'),
    });
    await gate.committed(async () => undefined);
    gate.close();
    await expect.poll(() => readdirSync(join(path, 'gate'), { recursive: true })).toEqual(['commits']);
  },
  60_000,
);
