import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createScheduler } from 'shardwheel';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { DebuggedProcess } from '../fixtures/debugged-process.ts';

let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'shardwheel-'));
  // Each run of a preload leaves a mark, opens what it alone can open, and sets timers of the package's own.
  const face = new URL('../../lib/timers', import.meta.url).href;
  const preload = `fs.appendFileSync(process.env.MARKS, 'x'); setTimeout(() => {}, 5); setTimeout(() => {}, 1e6).unref();
    if (process.env.SOCKET) net.createServer().listen(process.env.SOCKET + kind).unref();`;
  const imports = `import fs from 'node:fs'; import net from 'node:net'; import { setTimeout } from '${face}.js'; const kind = '.mjs';`;
  const requires = `const fs = require('node:fs'), net = require('node:net'), kind = '.cjs', { setTimeout } = require('${fileURLToPath(face)}.cjs');`;
  writeFileSync(file('preload.mjs'), `${imports} ${preload}`);
  writeFileSync(file('preload.cjs'), `${requires} ${preload}`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Fires a timer inline and, once the threads are up, one on each of two shards; prints what became of it. */
const program = `
  import { createScheduler } from 'shardwheel';
  const scheduler = createScheduler({ shards: 2 });
  let fired = 0;
  const fire = () => { fired += 1; };
  scheduler.scheduleAfter(1, 1, fire);
  await scheduler.ready;
  for (let hint = 0; hint < 20; hint++) scheduler.scheduleAfter(hint, 5, fire);
  while (fired < 21) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => scheduler.scheduleAfter(1, 200, resolve));
  const { serving, shards } = await scheduler.stats();
  console.log(JSON.stringify({ fired, by: serving.by, deaths: shards.map(({ deaths }) => deaths), inline: shards.some(({ inline }) => inline) }));
  await scheduler.close();
  process.exit();`;
const well = { fired: 21, by: 'threads', deaths: [0, 0], inline: false };

describe('shard threads start bare', () => {
  const preloads: [name: string, flags: () => string[], env: () => NodeJS.ProcessEnv][] = [
    ['--import', () => ['--import', file('preload.mjs')], () => ({})],
    ['--require', () => ['--require', file('preload.cjs')], () => ({})],
    [
      'NODE_OPTIONS',
      () => [],
      () => ({ NODE_OPTIONS: `--import=${file('preload.mjs')} --require=${file('preload.cjs')}` }),
    ],
  ];

  test.each(preloads)(
    'a preload by %s that opens a socket runs once, and no thread dies of it',
    async (name, flags, env) => {
      const [MARKS, SOCKET] = [file(`marks of ${name}`), file(`socket of ${name}`)];
      const { stdout, stderr } = await runText(program, flags(), { ...env(), MARKS, SOCKET });
      expect({ result: JSON.parse(stdout || 'null'), stderr }).toEqual({ result: well, stderr: '' });
      expect(readFileSync(MARKS, 'utf8')).toBe(name === 'NODE_OPTIONS' ? 'xx' : 'x');
    },
  );

  // Tried again, since what may fail on a busy machine is the debugger's own hand-shake.
  test('--inspect-brk: once the debugger lets the program go, timers fire', { retry: 2 }, async () => {
    writeFileSync(
      file('program.mjs'),
      program.replaceAll("'shardwheel'", `'${new URL('../../lib/index.js', import.meta.url).href}'`),
    );
    expect(JSON.parse(await new DebuggedProcess(file('program.mjs')).go())).toEqual(well);
  });

  test('their environment is empty, unless told otherwise; execArgv and env reach them', async () => {
    const MARKS = file('marks of execArgv');
    const given = program.replace(
      '{ shards: 2 }',
      `{ shards: 2, thread: { execArgv: ['--require', ${JSON.stringify(file('preload.cjs'))}], env: { MARKS: ${JSON.stringify(MARKS)} } } }`,
    );
    const { stdout } = await runText(given, [], { MARKS: file('marks of nobody') });
    expect(JSON.parse(stdout)).toEqual(well);
    expect(readFileSync(MARKS, 'utf8')).toBe('xx');
    expect(() => readFileSync(file('marks of nobody'), 'utf8')).toThrow(/ENOENT/);
  });

  test('the working directory is deleted: threads start all the same', async () => {
    const gone = `import { mkdtempSync, rmdirSync } from 'node:fs';
      process.chdir(mkdtempSync(${JSON.stringify(file('gone-'))}));
      rmdirSync(process.cwd());`;
    const { stdout, stderr } = await runText(gone + program);
    expect({ result: JSON.parse(stdout || 'null'), stderr }).toEqual({ result: well, stderr: '' });
  });
});

test('memory at rest: nothing of what is reserved counts as array buffers', async () => {
  const before = process.memoryUsage().arrayBuffers;
  await using scheduler = createScheduler({ shards: 2 });
  scheduler.scheduleAfter(1, 1e6);
  scheduler.scheduleAfter(2, 1e6);
  await scheduler.ready;
  expect((process.memoryUsage().arrayBuffers - before) / 2).toBeLessThan(12e6);
  for (const { bytes, reservedBytes } of (await scheduler.stats()).shards) {
    expect(bytes).toBeLessThan(100_000);
    expect(reservedBytes).toBeGreaterThan(100e6);
  }
});

test.runIf(process.platform === 'linux')('a thread does not reserve 512 MiB of addresses for its code', async () => {
  const { stdout } = await runText(`
    import { readFileSync } from 'node:fs';
    import { createScheduler } from 'shardwheel';
    const reserved = () => Number(/VmSize:\\s+(\\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
    const scheduler = createScheduler({ shards: 1, capacity: 1000 });
    const before = reserved();
    await scheduler.ready;
    process.stdout.write(String(reserved() - before));
    await scheduler.close();`);
  expect(Number(stdout)).toBeGreaterThan(10);
  expect(Number(stdout)).toBeLessThan(500);
});
