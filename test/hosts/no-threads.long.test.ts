import { describe, expect, test } from 'vitest';
import { burdenIndex, SMALL_WHEEL } from '../fixtures/burden-index.ts';
import { runText } from '../fixtures/child-process.ts';

const permission = ['--permission', '--experimental-permission'].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
) as string;
const limited = [permission, '--allow-fs-read=*'];
/** Takes the global away before anything of the package is loaded, as the flag of V8's does. */
const NO_SHARED_MEMORY = ['--import', 'data:text/javascript,delete globalThis.SharedArrayBuffer'];

const linesOf = (text: string, pattern: RegExp): number => text.split('\n').filter((line) => pattern.test(line)).length;

/**
 * Fires timers by `createScheduler(OPTIONS)`, and prints what served them. `isBurdened`: its index is burdened before,
 * until a warning says that a thread is wanted: a busy machine takes its time.
 */
const firing = (options: string, isBurdened = false) => `
  import { createScheduler } from 'shardwheel';
  const scheduler = createScheduler(${options});
  let isWarned = false;
  process.on('warning', ({ name }) => { isWarned ||= name === 'ShardInlineError'; });
  while (${isBurdened} && !isWarned && scheduler.now() < 60_000) await (${burdenIndex})(scheduler);
  scheduler.unref();
  await new Promise((fire) => { globalThis.hold = setInterval(() => {}, 1000); scheduler.scheduleAfter(1, 50, fire); });
  clearInterval(globalThis.hold);
  process.stdout.write((await scheduler.stats()).serving.by);
  await scheduler.close();`;

describe('a process that may not start threads', () => {
  test('with one timer prints no warning', async () => {
    const own = await runText(firing(''), limited);
    expect([own.stdout, linesOf(own.stderr, /Shard|shardwheel/)]).toEqual(['inline', 0]);
    const registered = await runText("setTimeout(() => process.stdout.write('fired'), 5);", [
      ...limited,
      '--import',
      'shardwheel/register',
    ]);
    expect([registered.stdout, linesOf(registered.stderr, /Shard|shardwheel/)]).toEqual(['fired', 0]);
  });

  test.each([
    ['{ shards: 1 }', false],
    ['{ shards: 2 }', false],
    [`{ shards: 'auto', wheel: ${JSON.stringify(SMALL_WHEEL)} }`, true],
  ])('is told once, with what to do, where a thread is wanted: %s', async (options, isBurdened) => {
    const { stdout, stderr } = await runText(firing(options, isBurdened), limited);
    expect([stdout, linesOf(stderr, /ShardInlineError/)]).toEqual(['inline', 1]);
    expect(stderr).toMatch(/All shards run inline.*may not start threads.*--permission.*with --allow-worker, or/);
  });

  test("an 'error' listener and a diagnostics channel hear it in place of the warning", async () => {
    const heard = `import { subscribe } from 'node:diagnostics_channel';
      subscribe('shardwheel:inline', ({ shard, error }) => console.log('channel', shard, error.code));
      import { createScheduler } from 'shardwheel';
      const scheduler = createScheduler({ shards: 1 });
      scheduler.on('error', (error) => console.log('listener', error.cause.message));
      setTimeout(() => scheduler.close(), 50);`;
    const { stdout, stderr } = await runText(heard, limited);
    expect(stdout).toBe(
      'channel undefined ERR_SHARD_INLINE\n' +
        'listener The permission model is on (--permission): allow them with --allow-worker, or ask for none with ' +
        'createScheduler({ shards: 0 })\n',
    );
    expect(stderr).not.toContain('ShardInlineError');
  });
});

describe('without SharedArrayBuffer', () => {
  test('every entry is imported, and a registered timer fires, in silence', async () => {
    const entries = ['wheel', 'timers', 'timers/promises', 'dashboard', 'durable', 'prometheus', 'opentelemetry'];
    const text = `import 'shardwheel'; ${entries.map((entry) => `import 'shardwheel/${entry}';`).join('\n')}
      if (globalThis.SharedArrayBuffer !== undefined) throw new Error('it is there');
      setTimeout(() => process.stdout.write('fired'), 5);`;
    const flags = [...NO_SHARED_MEMORY, '--import', 'shardwheel/register'];
    expect(await runText(text, flags)).toEqual({ code: 0, stdout: 'fired', stderr: '' });
  });

  test.each([
    ['{ shards: 0 }', 0],
    ["{ shards: 'auto' }", 0],
    ['{ shards: 1 }', 1],
  ])('a scheduler is served inline: %s', async (options, warnings) => {
    const { code, stdout, stderr } = await runText(firing(options), NO_SHARED_MEMORY);
    expect([code, stdout, linesOf(stderr, /SharedArrayBuffer/)]).toEqual([0, 'inline', warnings]);
  });

  test('sharing a scheduler is refused by an error that says what is missing', async () => {
    const text = `import { createScheduler } from 'shardwheel';
      try { createScheduler().share(); } catch ({ code, message }) { process.stdout.write(code + ' ' + message); }`;
    const { stdout } = await runText(text, NO_SHARED_MEMORY);
    expect(stdout).toMatch(/^ERR_UNSUPPORTED_RUNTIME scheduler\.share\(\) needs SharedArrayBuffer, which is missing/);
  });
});
