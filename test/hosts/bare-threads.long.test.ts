import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScheduler } from 'shardwheel';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { DebuggedProcess } from '../fixtures/debugged-process.ts';

let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'shardwheel-'));
  // Each run of a preload leaves a mark, and opens what it alone can open.
  const preload = `fs.appendFileSync(process.env.MARKS, 'x');
    if (process.env.SOCKET) net.createServer().listen(process.env.SOCKET + kind).unref();`;
  writeFileSync(
    file('preload.mjs'),
    `import fs from 'node:fs'; import net from 'node:net'; const kind = '.mjs'; ${preload}`,
  );
  writeFileSync(
    file('preload.cjs'),
    `const fs = require('node:fs'), net = require('node:net'), kind = '.cjs'; ${preload}`,
  );
  const face = new URL('../../lib/timers.js', import.meta.url).href;
  writeFileSync(
    file('timers.mjs'),
    `import { setTimeout } from '${face}'; setTimeout(() => {}, 5); setTimeout(() => {}, 1e6).unref();`,
  );
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

  test('a preload that sets timers of the face', async () => {
    const { stdout, stderr } = await runText(program, ['--import', file('timers.mjs')]);
    expect({ result: JSON.parse(stdout || 'null'), stderr }).toEqual({ result: well, stderr: '' });
  });

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

  const permission = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  ) as string;

  test('the working directory is deleted: threads start all the same', async () => {
    const { stdout, stderr } = await runText(
      `
      import { mkdtempSync, rmdirSync } from 'node:fs';
      import { tmpdir } from 'node:os';
      import { createScheduler } from 'shardwheel';
      process.chdir(mkdtempSync(tmpdir() + '/gone-'));
      rmdirSync(process.cwd());
      const scheduler = createScheduler({ shards: 2 });
      await scheduler.ready;
      await new Promise((resolve) => scheduler.scheduleAfter('a', 5, resolve));
      const { shards } = await scheduler.stats();
      process.stdout.write(JSON.stringify(shards.map(({ inline, deaths }) => [inline, deaths])));
      await scheduler.close();
    `,
    );
    expect({ stdout, stderr }).toEqual({ stdout: '[[false,0],[false,0]]', stderr: '' });
  });

  test('--permission without --allow-worker: inline, with one warning that says why', async () => {
    const { stdout, stderr } = await runText(program, [permission, '--allow-fs-read=*']);
    expect(JSON.parse(stdout)).toEqual({ ...well, by: 'inline', inline: true });
    const warnings = stderr.split('\n').filter((line) => line.includes('ShardInlineError'));
    expect(warnings.length).toBe(1);
    expect(warnings[0]).toMatch(/All shards run inline.*may not start threads.*--permission.*with --allow-worker, or/);
  });

  test("an 'error' listener and a diagnostics channel hear it as well", async () => {
    const heard = `import { subscribe } from 'node:diagnostics_channel';
      subscribe('shardwheel:inline', ({ shard, error }) => console.log('channel', shard, error.code));
      import { createScheduler } from 'shardwheel';
      const scheduler = createScheduler({ shards: 1 });
      scheduler.on('error', (error) => console.log('listener', error.cause.message));
      setTimeout(() => scheduler.close(), 50);`;
    const { stdout, stderr } = await runText(heard, [permission, '--allow-fs-read=*']);
    expect(stdout).toBe(
      'channel undefined ERR_SHARD_INLINE\n' +
        'listener The permission model is on (--permission): allow them with --allow-worker, or ask for none with ' +
        'createScheduler({ shards: 0 })\n',
    );
    expect(stderr).not.toContain('ShardInlineError');
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
