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

const restrictsNetwork = process.allowedNodeEnvironmentFlags.has('--allow-net');

test.runIf(restrictsNetwork)(
  'where --permission denies the port, it rejects, and serves when it is asked again',
  async () => {
    const text = `import { createScheduler } from 'shardwheel';
    import { serveDashboard } from 'shardwheel/dashboard';
    const scheduler = createScheduler({ shards: 0 });
    const serve = () => serveDashboard(scheduler, { port: 0 }).then(({ url }) => url, (error) => error);
    for (const each of [await serve(), await serve()]) console.log(each.name, each.code, each.message);
    await scheduler.close();`;
    const read = '--allow-fs-read=*';
    const message =
      'The dashboard cannot listen on port 0 of 127.0.0.1: --permission denies it, and --allow-net allows it';
    const line = `DashboardError ERR_LISTEN_FAILED ${message}\n`;
    expect(await runText(text, ['--permission', read])).toEqual({ code: 0, stdout: line.repeat(2), stderr: '' });
    const allowed = await runText(text, ['--permission', read, '--allow-net', '--disable-warning=ExperimentalWarning']);
    // The second is refused by the first: it serves.
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('DashboardError ERR_DASHBOARD_SERVED') });
  },
);

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
