import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

const entry = (name: string) => new URL(`../../lib/${name}.js`, import.meta.url).href;

/** A program whose main thread runs `main`, and whose two workers run `worker`; each has the face's functions. */
async function output(main: string, worker: string): Promise<string[]> {
  const face = `import { setTimeout, setInterval, clearInterval } from '${entry('timers')}';
    import { internalsOf } from '${entry('chunks/scheduler')}';
    import { createScheduler, connectScheduler } from '${entry('index')}';
    import { getEnvironmentData, setEnvironmentData, threadId, Worker } from 'node:worker_threads';`;
  const program = `${face}
    const text = ${JSON.stringify(`${face}\n${worker}`)};
    const start = () => {
      const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(text)), { execArgv: [] });
      return new Promise((resolve) => worker.on('exit', resolve));
    };
    let threads = 0;
    process.on('worker', () => { threads += 1; });
    ${main}`;
  const { code, stdout, stderr } = await runText(program);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trim().split('\n').sort();
}

const fire = `setTimeout(() => console.log('fired'), 20);
  const rest = setInterval(() => { clearInterval(rest); console.log('ticked'); }, 10);`;

test("a worker's timers run on the main thread's scheduler, and start no thread", async () => {
  const main = `setTimeout(() => undefined, 1);
    await Promise.all([start(), start()]);
    console.log(threads);`;
  const worker = `${fire}
    try { connectScheduler(getEnvironmentData('shardwheel')); } catch (error) { console.log(error.code); }`;
  const each = ['ERR_ALREADY_CONNECTED', 'fired', 'ticked'];
  expect(await output(main, worker)).toEqual(['2', ...each, ...each].sort());
});

test('and do what they should where the main thread has none: inline, without a thread', async () => {
  const main = `await Promise.all([start(), start()]); console.log(threads);`;
  expect(await output(main, fire)).toEqual(['2', 'fired', 'fired', 'ticked', 'ticked']);
});

test('a program can offer its workers a scheduler of its own', async () => {
  const main = `const scheduler = createScheduler({ shards: 1 });
    setEnvironmentData('shardwheel', scheduler.share());
    const ends = Promise.all([start(), start()]);
    let most = 0;
    const look = async () => { most = Math.max(most, (await scheduler.stats()).clients.length); };
    const looking = globalThis.setInterval(look, 5);
    await ends;
    globalThis.clearInterval(looking);
    console.log(most > 1, threads);`;
  expect(await output(main, fire)).toEqual(['fired', 'fired', 'ticked', 'ticked', 'true 3']);
});

test('a worker whose offered scheduler is closed, or used by it already, has its timers inline', async () => {
  const main = `const scheduler = createScheduler({ shards: 0 });
    setEnvironmentData('shardwheel', scheduler.share());
    await scheduler.close();
    await start();
    const other = createScheduler({ shards: 0 });
    setEnvironmentData('shardwheel', other.share());
    await start();`;
  const worker = `try { connectScheduler(getEnvironmentData('shardwheel')).unref(); } catch {}
    ${fire}`;
  expect(await output(main, worker)).toEqual(['fired', 'fired', 'ticked', 'ticked']);
});
