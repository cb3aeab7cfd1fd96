import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A program that loads the package, and what it does then. */
interface Program {
  readonly name: string;
  readonly flags?: string;
  readonly around?: (code: string) => string;
  /** Seconds after which that is done at the latest. */
  readonly after?: number;
}

const entries = [
  '',
  '/wheel',
  '/timers',
  '/timers/promises',
  '/dashboard',
  '/durable',
  '/net',
  '/prometheus',
  '/opentelemetry',
];
const createRequire =
  "import { createRequire } from 'node:module'; const require = createRequire(process.cwd() + '/');";
const REGISTER = '--import shardwheel/register';

const programs: readonly Program[] = [
  { name: '--import register', flags: REGISTER },
  { name: '--require register', flags: '--require shardwheel/register' },
  {
    name: 'every entry, required',
    around: (code) => [...entries.map((entry) => `require('shardwheel${entry}');`), code].join(''),
  },
  {
    name: 'every entry, imported',
    flags: '--input-type=module',
    around: (code) =>
      [...entries, '/register'].map((entry) => `import 'shardwheel${entry}';`).join('') + createRequire + code,
  },
  {
    name: 'a timer of its own',
    flags: REGISTER,
    around: (code) => `setTimeout(() => {}, 1); require('shardwheel').createScheduler().scheduleAfter(1, 1); ${code}`,
  },
  {
    name: 'a scheduler whose thread is up',
    around: (code) =>
      `const scheduler = require('shardwheel').createScheduler({ shards: 1 });
       scheduler.ready.then(() => { ${code} }).finally(() => scheduler.close());`,
    after: 0.4,
  },
  {
    name: 'so many timers that the wheel takes over',
    flags: REGISTER,
    around: (code) =>
      `for (let i = 0; i < 50_000; i++) setTimeout(() => {}, 100_000);
       setTimeout(() => { for (let i = 0; i < 50_000; i++) setTimeout(() => {}, 100_000); }, 50);
       setTimeout(() => { try { ${code} } finally { process.exit(); } }, 300);`,
    after: 0.6,
  },
];

interface Ran {
  status: number | string | null | undefined;
  stdout: string;
}

/**
 * Runs a shell's line, in which NODE stands for Node, its flags and the program's text, and LATER for so many seconds.
 */
function shell(line: string, code: string, program: Partial<Program> = {}): Promise<Ran> {
  const { flags = '', around = (code) => code, after = 0 } = program;
  const node = `"$BINARY" ${flags} -e "$TEXT"`;
  const text = line.replaceAll('NODE', node).replaceAll('LATER', `${after + 0.4}`);
  return new Promise((resolve) => {
    const options = {
      cwd: root,
      encoding: 'utf8' as const,
      timeout: 60_000,
      killSignal: 'SIGKILL' as const,
      maxBuffer: 2 ** 27,
      env: { ...process.env, NODE_OPTIONS: '', BINARY: process.execPath, TEXT: around(code) },
    };
    const child = execFile('sh', ['-c', text], options, (error, stdout) => {
      resolve({ status: error === null ? 0 : error.code, stdout });
    });
    child.stdin?.end();
  });
}

const READ = "const fs = require('fs'); fs.writeSync(1, fs.readFileSync(0));";
const WRITE = `const fs = require('fs'); const all = Buffer.alloc(3e6, 97);
  for (let at = 0; at < all.length; ) at += fs.writeSync(1, all, at);`;
const RESOURCES =
  "require('fs').writeSync(1, process.getActiveResourcesInfo().filter((name) => /Pipe|TTY|FS/.test(name)).join());";
const STREAM = `const { get, set, value, ...is } = Object.getOwnPropertyDescriptor(process, 'stdout');
  process.stdout.write([typeof get, typeof set, typeof value, JSON.stringify(is), process.stdout._type].join());`;
const FED = "require('child_process').spawnSync('cat', { stdio: 'inherit' });";
const SECOND = `"$BINARY" -e 'const t = Date.now(); while (Date.now() < t + 300); process.stdout.write(require("fs").readFileSync(0))'`;

/** What standard streams can be; each line's output and exit code are to be those of plain Node. */
const cases: [what: string, line: string, code: string, says: string | RegExp][] = [
  ['a pipe on stdin that is written late is read', '(sleep LATER; echo hi) | NODE', READ, 'hi\n'],
  ['a large write into a slow pipe is whole', 'NODE | (sleep LATER; wc -c)', WRITE, '3000000\n'],
  [
    'another process that shares the pipe reads it',
    `(sleep LATER; sleep 0.2; echo hi) | (NODE & ${SECOND}; wait)`,
    'setTimeout(() => {}, 100);',
    'hi\n',
  ],
  ['a pipe on stdin is no active resource', 'sleep LATER | NODE', RESOURCES, ''],
  ['closed streams stay closed', 'NODE <&- >&- 2>&-; echo $?', 'setTimeout(() => {}, 5);', '0\n'],
  ['a child is fed by the pipe of its parent', '(sleep LATER; echo hi) | NODE', FED, 'hi\n'],
  [
    'a terminal is read and written',
    `echo hi | script -qec 'exec NODE' /dev/null | tr -d '\\r' | grep -c 'isTTY'`,
    "require('fs').writeSync(1, 'isTTY ' + require('tty').isatty(0));",
    '1\n',
  ],
  ['stdout is the property that it is', 'NODE', STREAM, /^function,\w+,undefined,.*,pipe$/],
];

describe.each(cases)('%s', (_, line, code, says) => {
  let expected: Ran;
  beforeAll(async () => {
    expected = await shell(line, code);
  });

  test('in plain Node', () => {
    expect(expected).toEqual({ status: 0, stdout: typeof says === 'string' ? says : expect.stringMatching(says) });
  });

  // Most of the time they wait.
  test.concurrent.each(programs)('with $name', async (program) => {
    expect(await shell(line, code, program)).toEqual(expected);
  });
});

test('a scheduler shows what its thread writes', async () => {
  const noisy = "data:text/javascript,process.stdout.write('out ');process.stderr.write('err ')";
  const program = `const execArgv = ['--import', ${JSON.stringify(noisy)}];
    const scheduler = require('shardwheel').createScheduler({ shards: 1, thread: { execArgv } });
    scheduler.ready.then(() => setTimeout(() => scheduler.close(), 200));`;
  const { status, stdout } = await shell('NODE 2>&1', program);
  expect({ status, words: stdout.split(' ').sort() }).toEqual({ status: 0, words: ['', 'err', 'out'] });
});
