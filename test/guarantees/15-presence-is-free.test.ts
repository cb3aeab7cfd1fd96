import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';

const lib = (entry: string): string => new URL(`../../lib/${entry}.js`, import.meta.url).href;

/** What a program sees of itself before and after the code. `process._rawDebug` opens no stream. */
function seen(code: string, argv: readonly string[] = []): unknown {
  const program = `
    const { Worker } = await import('node:worker_threads');
    let workers = 0;
    process.on('worker', () => { workers += 1; });
    const { setTimeout: sleep } = await import('node:timers/promises');
    await sleep(20); // the files of Node's own loader are closed
    const before = look();
    ${code}
    await sleep(20);
    const after = look();
    process._rawDebug(JSON.stringify({ before, after, workers }));
    function look() {
      const stream = (name) => typeof Object.getOwnPropertyDescriptor(process, name)?.value;
      return {
        handles: process.getActiveResourcesInfo(),
        streams: ['stdin', 'stdout', 'stderr'].map(stream),
        globals: Object.getOwnPropertyNames(globalThis).sort(),
        listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
        env: Object.keys(process.env).length,
      };
    }`;
  const { stderr, status } = spawnSync(process.execPath, [...argv, '--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return JSON.parse(stderr);
}

const entries = ['index', 'timers', 'timers-promises', 'wheel', 'prometheus', 'opentelemetry', 'dashboard', 'durable'];

describe('guarantee 15, presence is free', () => {
  test.each([...entries, 'register'])('importing %s starts no thread, opens no handle, touches no stream', (entry) => {
    const { before, after, workers } = seen(`await import(${JSON.stringify(lib(entry))});`) as Record<string, unknown>;
    expect(after).toEqual(before);
    expect(workers).toBe(0);
  });

  test('a program that registers and sets no timer sees other timer functions, and nothing else', () => {
    const look = 'globalThis.found = [typeof setTimeout, setTimeout.name, setTimeout.length, clearTimeout.name];';
    const plain = seen(look) as Record<string, unknown>;
    const registered = seen(look, ['--import', lib('register')]) as Record<string, unknown>;
    expect(registered).toEqual(plain);
  });

  test('a scheduler of its own does not, until its first timer: no thread, no handle', () => {
    const { before, after, workers } = seen(`
      const { createScheduler } = await import(${JSON.stringify(lib('index'))});
      const scheduler = createScheduler();
      await new Promise(setImmediate);`) as Record<string, { handles: string[] }>;
    expect([after.handles, workers]).toEqual([before.handles, 0]);
  });
});
