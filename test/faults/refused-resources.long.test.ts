import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'vitest';

const program = fileURLToPath(new URL('../fixtures/faults/refusals.mjs', import.meta.url));

interface Report {
  /** Lives of a scheduler; in the last one nothing was refused. */
  lives: number;
  found: string[];
}

/** What the program prints; it has to end by itself. */
function live(kind: string, mode: string, signal: AbortSignal): Promise<Report> {
  return new Promise((resolve, reject) => {
    const options = { signal, killSignal: 'SIGKILL' } as const;
    execFile(process.execPath, [program, kind, mode], options, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout));
      else reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
    });
  });
}

const modes = process.env.SHARDWHEEL_SLOW === '1' ? ['once', 'a while'] : ['once'];

// A scheduler is made, is ready, delivers, loses its thread, grows, is asked, closes: and at one request of all that it
// makes meanwhile it is refused what it asks for. Either it does without, or there is an error that says what was
// refused; no timer is lost, none ends twice, no thread is left.
describe.concurrent.each(modes)('refused at the n-th request, for each n: %s', (mode) => {
  test.for([
    ['threads', 2],
    ['ports', 5],
    ['shared memory', 12],
    ['arrays', 12],
    ['memory of threads', 5],
  ] as const)('%s', async ([kind, least], { signal, expect }) => {
    const { lives, found } = await live(kind, mode, signal);
    expect(found).toEqual([]);
    expect(lives).toBeGreaterThan(least);
  });
});
