import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { lmdbStore, openDurableTimers } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { note } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

test.skipIf(process.platform === 'win32')(
  'a process that stood still for so long that another has its timer hears of it by the signal of its handler',
  async () => {
    const path = newFolder();
    const program = fileURLToPath(new URL('programs/signalled.mjs', import.meta.url));
    const child = spawn(process.execPath, [program, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
    });
    const soon = (isSo: () => boolean, timeout = 20_000): Promise<void> => expect.poll(isSo, { timeout }).toBe(true);
    await soon(() => said === 'open\n');
    const timers = await openDurableTimers({ store: lmdbStore({ path }) });
    try {
      await timers.schedule('a', 'k', Date.now());
      await soon(() => said === 'open\nbegun\n');
      child.kill('SIGSTOP');
      const seen = note(timers);
      await soon(() => seen.length === 1, 90_000);
      child.kill('SIGCONT');
      await soon(() => said === 'open\nbegun\nERR_STORE_LOCK_LOST\n');
      child.stdin.end();
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(seen).toMatchObject([{ key: 'k', attempt: 2 }]);
    } finally {
      child.kill('SIGKILL');
      await timers.close();
    }
  },
);
