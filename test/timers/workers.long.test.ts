import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

const entry = (name: string) => new URL(`../../lib/${name}.js`, import.meta.url).href;

/** A program whose main thread runs `main`, and whose two workers run `worker`; each has the face's functions. */
async function output(main: string, worker: string): Promise<string[]> {
  const face = `import { setTimeout, setInterval, clearInterval } from '${entry('timers')}';
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

test('timers live in the thread that sets them, and start none', async () => {
  const main = `${fire} await Promise.all([start(), start()]); console.log(threads);`;
  expect(await output(main, fire)).toEqual(['2', 'fired', 'fired', 'fired', 'ticked', 'ticked', 'ticked']);
});

test('timers on a scheduler of another thread live in the worker as well', async () => {
  const main = `const scheduler = createScheduler({ shards: 1, clock: 'manual' });
    setEnvironmentData('clock', scheduler.share());
    const ended = start();
    let isOver = false;
    void ended.then(() => { isOver = true; });
    for (let now = 1; !isOver; now += 1) { await scheduler.advanceTo(now); await new Promise((r) => globalThis.setTimeout(r, 1)); }
    await scheduler.close();`;
  const worker = `import { createTimers } from '${entry('timers')}';
    const connected = connectScheduler(getEnvironmentData('clock'));
    const own = createTimers(connected);
    const begun = connected.now();
    own.setTimeout(() => { console.log(connected.now() - begun >= 50); void connected.close(); }, 50);`;
  expect(await output(main, worker)).toEqual(['true']);
});
