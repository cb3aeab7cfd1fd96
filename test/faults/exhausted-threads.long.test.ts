import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

// The system lets the user of the process start no further thread. Its limit does not bind root, so another user runs
// the program.

const root = fileURLToPath(new URL('../..', import.meta.url));
/** One who has no other process, also where this file runs twice at a time: threads are counted by user. */
const USER = 100_000 + process.pid;
/** More than Node itself starts. */
const MOST_THREADS = 40;

/**
 * Runs a module's text as a user of no other process who may have so many threads; undefined if Node itself needs more,
 * or is not let.
 */
function output(threads: number, text: string, timeout = 60_000): string | undefined {
  const shell = ['bash', '-c', `ulimit -c 0; ulimit -u ${threads}; exec "$0" "$@"`, process.execPath];
  const as = [`--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', ...shell];
  const given = [...as, '--no-warnings', '--input-type=module', '-e', text];
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' }, timeout } as const;
  const { stdout, status } = spawnSync('setpriv', given, options);
  return status === 0 ? stdout : undefined;
}

/** What loads the package, and uses a thread of libuv's pool as a program does. */
const PLAIN =
  "import 'shardwheel'; import { stat } from 'node:fs/promises'; await stat('/'); process.stdout.write('up');";

/**
 * The fewest threads with which this Node runs a module; undefined where no other user can be had, or read these files.
 */
function fewestThreads(): number | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || output(MOST_THREADS, PLAIN) !== 'up')
    return undefined;
  let threads = MOST_THREADS;
  while (output(threads - 1, PLAIN, 20_000) === 'up') threads -= 1; // with fewer Node aborts, or waits for ever
  return threads;
}

const fewest = fewestThreads();

describe.skipIf(fewest === undefined)('where no thread can be started', () => {
  test.each([
    ['{ shards: 1 }', 20_000],
    ["{ shards: 'auto' }", 200_000],
  ])('every timer of a scheduler of %s comes, inline', (subject, count) => {
    const text = `
      import { stat } from 'node:fs/promises';
      import { createScheduler } from 'shardwheel';
      await stat('/'); // libuv's pool: with it there are as many threads as there may be
      const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      const scheduler = createScheduler(${subject});
      const errors = [];
      scheduler.on('error', ({ code }) => errors.push(code));
      let fired = 0;
      for (let i = 0; i < ${count}; i++) {
        scheduler.scheduleAfter(i, 1 + (i % 2500), () => { fired += 1; });
        if (i % 10_000 === 0) await sleep(5);
      }
      while (fired < ${count}) await sleep(20);
      while (${subject === '{ shards: 1 }'} && errors.length === 0) await sleep(20);
      const { serving } = await scheduler.stats();
      process.stdout.write(JSON.stringify({ fired, errors, by: serving.by, unfired: await scheduler.close() }));`;
    const found = output(fewest as number, text);
    expect(found, 'the program ends by itself').toBeDefined();
    const { errors, ...rest } = JSON.parse(found as string);
    expect(rest).toEqual({ fired: count, by: 'inline', unfired: [] });
    expect(errors.filter((code: string) => code !== 'ERR_SHARD_INLINE')).toEqual([]);
  });
});
