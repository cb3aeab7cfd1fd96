import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { newFolder } from './folder.ts';

const program = fileURLToPath(new URL('./programs/gated.mjs', import.meta.url));

test.skipIf(process.platform !== 'linux')(
  'processes that open a store or commit, and are killed as they do, find nobody else who opens it',
  async () => {
    const [path, end] = [newFolder(), performance.now() + 12_000];
    let said = '';
    const keepOne = async (does: string): Promise<void> => {
      while (performance.now() < end) {
        const child = spawn(process.execPath, [program, path, does], { stdio: ['ignore', 'pipe', 'inherit'] });
        child.stdout.on('data', (text) => {
          said += text;
        });
        expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
      }
    };
    await Promise.all(['opens', 'opens', 'opens', 'opens', 'commits', 'commits'].map(keepOne));
    const lines = said.split('\n');
    expect(lines.filter((line) => line.includes('beside'))).toEqual([]);
    for (const does of ['opens', 'commits']) expect(lines.filter((line) => line === does).length).toBeGreaterThan(50);
  },
);
