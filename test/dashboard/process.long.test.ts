import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

/** Serves, looks at it from the same process by a thread of its own that is unref'd, and prints what is said. */
const looked = `import { createScheduler } from 'shardwheel';
  import { serveDashboard } from 'shardwheel/dashboard';
  import { Worker } from 'node:worker_threads';
  const scheduler = createScheduler({ shards: 1 });
  const { url, close } = await serveDashboard(scheduler, { port: 0 });
  const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(\`
    import { get } from 'node:http'; import { parentPort, workerData } from 'node:worker_threads';
    get(workerData + 'events', (answer) => answer.once('data', () => parentPort.postMessage('looks')));\`)), { workerData: url });
  await new Promise((resolve) => worker.once('message', resolve));
  worker.unref();`;

test.each([
  ['open, and somebody looks', ''],
  ['closed', 'await close();'],
  ['closed by its scheduler', 'await scheduler.close(); await close();'],
])('a process ends by itself while its dashboard is %s', async (_name, rest) => {
  const { code, stderr } = await runText(`${looked} ${rest} console.error('last line');`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'last line\n' });
});

test('a registered program: the dashboard sets none of its timers', async () => {
  const text = `import { serveDashboard } from 'shardwheel/dashboard';
    import { createScheduler } from 'shardwheel';
    const scheduler = createScheduler({ shards: 0 });
    const seen = [];
    for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
      const own = globalThis[name];
      globalThis[name] = (...rest) => { seen.push(new Error(name).stack); return own(...rest); };
    }
    const { url, close } = await serveDashboard(scheduler, { port: 0 });
    const answer = await fetch(url + 'events');
    const reader = answer.body.getReader();
    let text = '';
    while (text.split('event: sample').length < 3) text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    await close();
    console.log(seen.filter((stack) => stack.includes('/dashboard/')).length, (await scheduler.stats()).scheduled);`;
  const { stdout, stderr } = await runText(text, ['--import', 'shardwheel/register']);
  expect({ stdout, stderr }).toEqual({ stdout: '0 0\n', stderr: '' });
});

test('docs/dashboard.md shows what runs', async () => {
  const text = readFileSync(new URL('../../docs/dashboard.md', import.meta.url), 'utf8');
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(text) ?? [];
  const anyPort = code.replace('serveDashboard(scheduler)', 'serveDashboard(scheduler, { port: 0 })');
  expect(anyPort).not.toBe(code);
  const { code: exit, stderr, stdout } = await runText(anyPort);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\n$/);
});
