import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { expect, test } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder();
const COUNT = 100;

/** Prints what the main thread of a process and a worker make, each in a line. */
const program = `
  import { isMainThread, Worker } from 'node:worker_threads';
  import { newJobId } from './bullmq/job-data.ts';
  import { newVersion } from './table/record-table.ts';
  for (let n = 0; n < ${COUNT}; n++) console.log('id', newJobId('a/b'));
  for (let n = 0; n < ${COUNT}; n++) console.log('version', newVersion());
  console.log('drawn', Math.random());
  if (isMainThread) new Worker(process.argv[1]);`;

test('threads and processes that draw the same numbers make other job ids and other versions', async () => {
  const outfile = join(folder, 'program.mjs');
  const resolveDir = fileURLToPath(new URL('../../src/extras/durable', import.meta.url));
  const stdin = { contents: program, resolveDir, loader: 'ts' } as const;
  buildSync({ stdin, outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' });
  const run = () => runNode(['--random-seed=1', outfile], { limit: 20_000 });
  const ended = await Promise.all([run(), run()]);
  expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  const lines = ended.flatMap(({ stdout }) => stdout.trim().split('\n'));
  const of = (kind: string) => lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.split(' ')[1]);
  expect(new Set(of('drawn')).size).toBe(1);
  expect(of('drawn')).toHaveLength(4);
  for (const kind of ['id', 'version']) {
    expect(of(kind)).toHaveLength(4 * COUNT);
    expect(new Set(of(kind)).size).toBe(4 * COUNT);
  }
  expect(of('version').every((version) => Number.isSafeInteger(Number(version)) && Number(version) < 2 ** 52)).toBe(
    true,
  );
  expect(of('id').every((id) => /^a\/b\/[\w.]+$/.test(id))).toBe(true);
});
