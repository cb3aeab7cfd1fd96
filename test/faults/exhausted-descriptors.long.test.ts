import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

// The system lets the process open no file: whatever would be loaded seems to be missing.

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | string | null | undefined;
}

/**
 * Runs a module's text where a process may have 100 descriptors, and takes all but those that it needs to be loaded.
 */
const runExhausted = (text: string, flags: readonly string[] = []): Promise<Ended> =>
  new Promise((resolve) => {
    const program = `import { closeSync, openSync } from 'node:fs';
      import { createScheduler } from 'shardwheel';
      const held = [];
      const exhaust = () => { try { for (;;) held.push(openSync('/dev/null')); } catch {} };
      const relieve = () => { for (const descriptor of held.splice(0)) closeSync(descriptor); };
      const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      exhaust();
      ${text}`;
    const given = [
      '-c',
      'ulimit -n 100; exec "$0" "$@"',
      process.execPath,
      ...flags,
      '--input-type=module',
      '-e',
      program,
    ];
    const options = { cwd: root, env: { ...process.env, NODE_OPTIONS: '' }, timeout: 100_000 };
    execFile('bash', given, options, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }));
  });

describe.skipIf(process.platform === 'win32')('with all descriptors taken', () => {
  test('a registered program keeps all its timers, is told once, and has the wheel when there is room again', async () => {
    const { stdout, stderr, code } = await runExhausted(
      `import { registration } from 'shardwheel/register';
      let fired = 0;
      let thrown = 0;
      for (let round = 0; round < 4; round++) {
        for (let i = 0; i < 20_000; i++) try { setTimeout(() => { fired += 1; }, 1000); } catch { thrown += 1; }
        await sleep(20);
      }
      const under = registration();
      while (fired < 80_000) await sleep(20);
      relieve();
      await sleep(4000); // longer than the pause
      const more = Array.from({ length: 20_000 }, () => setTimeout(() => undefined, 60_000));
      for (let i = 0; i < 100 && registration().serving === 'node'; i++) {
        more.push(setTimeout(() => undefined, 60_000));
        await sleep(5);
      }
      const after = registration();
      for (const timeout of more) clearTimeout(timeout);
      process.stdout.write(JSON.stringify([fired, thrown, under.serving, under.reason, after.serving, after.since > under.since]));`,
      ['--import', 'shardwheel/register'],
    );
    expect({ code, warnings: stderr.match(/SHARDWHEEL_\w+/g) }).toEqual({
      code: 0,
      warnings: ['SHARDWHEEL_WITHOUT_WHEEL'],
    });
    const reason = expect.stringContaining('too many open files');
    expect(JSON.parse(stdout)).toEqual([80_000, 0, 'node', reason, 'wheel', true]);
  });

  test.each([
    ['{ shards: 1 }', ''],
    [
      "{ shards: 'auto' }",
      // No thread is wanted for more than 100,000 live ones.
      `const end = Date.now() + 60_000;
      while (errors.length === 0 && Date.now() < end) {
        if (added - fired < 50_000) add(3000);
        await sleep(0);
      }`,
    ],
  ])('a scheduler of %s serves its timers inline, and says why it has no thread', async (options, load) => {
    const { stdout, stderr, code } = await runExhausted(
      `const scheduler = createScheduler(${options});
      const errors = [];
      let added = 0;
      let fired = 0;
      const add = (count) => {
        for (let i = 0; i < count; i++) scheduler.scheduleAfter(added++, 50 * Math.random(), () => { fired += 1; });
      };
      scheduler.on('error', ({ code, message }) => errors.push([code, message]));
      add(1000);
      ${load}
      while (errors.length === 0) await sleep(10);
      while (fired < added) await sleep(10);
      const { serving } = await scheduler.stats();
      process.stdout.write(JSON.stringify([errors, serving.by, serving.reason, (await scheduler.close()).length]));`,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const why = expect.stringMatching(/EMFILE: too many open files/);
    expect(JSON.parse(stdout)).toEqual([[['ERR_SHARD_INLINE', why]], 'inline', why, 0]);
  });
});
