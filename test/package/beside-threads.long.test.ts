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

/** A program that does something when it has set many timers, and a thread, if one is wanted, is up. */
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

  test('writes a large text into a slow pipe as in plain Node', () => {
    const program = withManyTimers(WRITE);
    expect(shell(slowReader(4), '--import shardwheel/register', program)).toEqual(shell(slowReader(4), '', program));
  });
});

describe('a program with a scheduler whose thread is up', () => {
  test('reads a pipe on stdin that is written late', () => {
    expect(shell(lateInput, '', onceReady(READ))).toEqual(shell(lateInput, '', READ));
  });

  test('writes a large text into a slow pipe', () => {
    expect(shell(slowReader(1.5), '', onceReady(WRITE))).toEqual(shell(slowReader(1.5), '', WRITE));
  });

  test('has the streams of a plain program', () => {
    const tell = `const { get, set, value, ...is } = Object.getOwnPropertyDescriptor(process, 'stdout');
      process.stdout.write([typeof get, typeof set, typeof value, JSON.stringify(is), process.stdout._type].join());`;
    expect(shell('NODE', '', onceReady(tell))).toEqual(shell('NODE', '', tell));
  });

  test('shows what its thread writes', () => {
    const noisy = "data:text/javascript,process.stdout.write('out ');process.stderr.write('err ')";
    const program = `const execArgv = ['--import', ${JSON.stringify(noisy)}];
      const scheduler = require('shardwheel').createScheduler({ shards: 1, thread: { execArgv } });
      scheduler.ready.then(() => setTimeout(() => scheduler.close(), 200));`;
    const { status, stdout } = shell('NODE 2>&1', '', program);
    expect({ status, words: stdout.split(' ').sort() }).toEqual({ status: 0, words: ['', 'err', 'out'] });
  });
});

const entries = ['', '/wheel', '/timers', '/timers/promises', '/register', '/dashboard', '/durable', '/prometheus'];

describe.each([
  {
    how: 'imported',
    flags: '--input-type=module',
    first: `${entries.map((entry) => `import 'shardwheel${entry}';`).join(' ')} import fs from 'fs';`,
  },
  {
    how: 'required',
    flags: '',
    first: `${entries.map((entry) => `require('shardwheel${entry}');`).join(' ')} const fs = require('fs');`,
  },
])('a program in which every entry is $how', ({ flags, first }) => {
  test('reads a pipe on stdin, and writes a large text, as plain Node does', () => {
    const [reading, writing] = [READ, WRITE].map((text) => text.replace("const fs = require('fs');", first));
    expect(shell('(sleep 0.8; echo hi) | NODE', flags, reading)).toEqual({ status: 0, stdout: 'hi\n' });
    expect(shell(slowReader(0.8), flags, writing)).toEqual({ status: 0, stdout: `${3 * MB}\n` });
  });
});
