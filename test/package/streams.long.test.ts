import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Flags and first lines of programs that load the package; the first is plain Node, which all are held against. */
const plain = { name: 'plain Node', flags: '', first: '' };
const entries = ['', '/wheel', '/timers', '/dashboard', '/durable', '/prometheus', '/opentelemetry'];
const loading = [
  { name: '--import register', flags: '--import shardwheel/register', first: '' },
  { name: '--require register', flags: '--require shardwheel/register', first: '' },
  { name: 'every entry, required', flags: '', first: entries.map((each) => `require('shardwheel${each}');`).join('') },
  {
    name: 'a timer of its own',
    flags: '--import shardwheel/register',
    first: "setTimeout(() => {}, 1); require('shardwheel').createScheduler().scheduleAfter(1, 1);",
  },
];

interface Program {
  readonly flags: string;
  readonly first: string;
}

/** Runs a shell's line, in which NODE stands for Node and its flags, and CODE for the program's text. */
function shell(line: string, { flags, first }: Program, code: string) {
  const { status, stdout } = spawnSync(
    'sh',
    ['-c', line.replaceAll('NODE', `"$BINARY" ${flags}`).replaceAll('CODE', '"$TEXT"')],
    {
      cwd: root,
      encoding: 'utf8',
      timeout: 60_000,
      killSignal: 'SIGKILL',
      maxBuffer: 2 ** 27,
      env: { ...process.env, NODE_OPTIONS: '', BINARY: process.execPath, TEXT: `${first}${code}` },
    },
  );
  return { status, stdout };
}

const read = "const fs = require('fs'); fs.writeSync(1, fs.readFileSync(0));";
const large =
  "const fs = require('fs'); const all = Buffer.alloc(3e6, 97); for (let at = 0; at < all.length; ) at += fs.writeSync(1, all, at);";
const resources =
  "require('fs').writeSync(1, process.getActiveResourcesInfo().filter((name) => /Pipe|TTY|FS/.test(name)).join());";

/** What standard streams can be; each line's output and exit code are to be those of plain Node. */
const cases = [
  {
    what: 'a pipe on stdin that is written late is read',
    line: '(sleep 0.4; echo hi) | NODE -e CODE',
    code: read,
    says: 'hi\n',
  },
  {
    what: 'a large write into a slow pipe is whole',
    line: 'NODE -e CODE | (sleep 0.4; wc -c)',
    code: large,
    says: '3000000\n',
  },
  {
    what: 'another process that shares the pipe reads it',
    line: `(sleep 0.6; echo hi) | (NODE -e CODE & "$BINARY" -e 'const t = Date.now(); while (Date.now() < t + 300); process.stdout.write(require("fs").readFileSync(0))'; wait)`,
    code: 'setTimeout(() => {}, 100);',
    says: 'hi\n',
  },
  { what: 'a pipe on stdin is no active resource', line: 'sleep 0.4 | NODE -e CODE', code: resources, says: '' },
  {
    what: 'closed streams stay closed',
    line: 'NODE -e CODE <&- >&- 2>&-; echo $?',
    code: 'setTimeout(() => {}, 5);',
    says: '0\n',
  },
  {
    what: 'a child is fed by the pipe of its parent',
    line: '(sleep 0.4; echo hi) | NODE -e CODE',
    code: `require('child_process').spawnSync('cat', { stdio: 'inherit' });`,
    says: 'hi\n',
  },
  {
    what: 'a terminal is read and written',
    line: `echo hi | script -qec 'exec "$BINARY" FLAGS -e "$TEXT"' /dev/null | tr -d '\\r' | grep -c 'isTTY'`,
    code: "require('fs').writeSync(1, 'isTTY ' + require('tty').isatty(0));",
    says: '1\n',
  },
];

describe.each(cases)('$what', ({ line, code, says }) => {
  test('in plain Node', () => {
    expect(shell(line.replace('FLAGS', ''), plain, code)).toEqual({ status: 0, stdout: says });
  });

  test.each(loading)('with $name', (program) => {
    expect(shell(line.replace('FLAGS', program.flags), program, code)).toEqual({ status: 0, stdout: says });
  });
});
