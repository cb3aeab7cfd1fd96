import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MB = 1_000_000;

const WRITE = `const fs = require('fs'); const all = Buffer.alloc(${3 * MB}, 97);
  for (let at = 0; at < all.length; ) at += fs.writeSync(1, all, at);`;
const READ = "const fs = require('fs'); fs.writeSync(1, fs.readFileSync(0));";

/** Runs a shell's line, in which NODE stands for Node with its flags and the program's text. */
function shell(line: string, flags: string, text: string) {
  const { status, stdout } = spawnSync('sh', ['-c', line.replaceAll('NODE', `"$BINARY" ${flags} -e "$TEXT"`)], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
    env: { ...process.env, NODE_OPTIONS: '', BINARY: process.execPath, TEXT: text },
  });
  return { status, stdout };
}

/** What is written is not held here: Node opens stdout for each Worker that it makes. A program that does something when it has set many timers, and a thread, if one is wanted, is up. */
const withManyTimers = (then: string) =>
  `for (let i = 0; i < 150_000; i++) setTimeout(() => {}, 100_000);
   setTimeout(() => { try { ${then} } finally { process.exit(); } }, 2000);`;

const onceReady = (then: string) =>
  `const scheduler = require('shardwheel').createScheduler({ shards: 1 });
   scheduler.ready.then(() => { ${then} }).finally(() => scheduler.close());`;

const lateInput = '(sleep 0.8; echo hi) | NODE';
/** The reader sleeps until after the write has begun. */
const slowReader = (seconds: number) => `NODE | (sleep ${seconds}; wc -c)`;

describe('a registered program with so many timers that they pay for a thread', () => {
  test('reads a pipe on stdin as in plain Node', () => {
    const program = withManyTimers(READ);
    const line = lateInput.replace('0.8', '3');
    expect(shell(line, '--import shardwheel/register', program)).toEqual(shell(line, '', program));
  });
});

describe('a program with a scheduler whose thread is up', () => {
  test('reads a pipe on stdin that is written late', () => {
    expect(shell(lateInput, '', onceReady(READ))).toEqual(shell(lateInput, '', READ));
  });
});

describe.each([
  ...['', '/wheel', '/timers', '/timers/promises', '/register', '/dashboard', '/durable', '/prometheus'].flatMap(
    (entry) => [
      {
        how: 'imported',
        entry,
        flags: '--input-type=module',
        first: `import 'shardwheel${entry}'; import fs from 'fs';`,
      },
      { how: 'required', entry, flags: '', first: `require('shardwheel${entry}'); const fs = require('fs');` },
    ],
  ),
])('shardwheel$entry, $how', ({ flags, first }) => {
  test('a pipe on stdin is read, and a large text written, as in plain Node', () => {
    const [reading, writing] = [READ, WRITE].map((text) => text.replace("const fs = require('fs');", first));
    expect(shell('(sleep 0.6; echo hi) | NODE', flags, reading)).toEqual({ status: 0, stdout: 'hi\n' });
    expect(shell(slowReader(0.6), flags, writing)).toEqual({ status: 0, stdout: `${3 * MB}\n` });
  });
});
