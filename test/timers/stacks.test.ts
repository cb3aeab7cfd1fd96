import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

/** What an error's stack shows below a callback and below a continuation: frames of ours, and whose names are there. */
const program = (shards: number) => `
  import { AsyncLocalStorage } from 'node:async_hooks';
  import { createScheduler } from 'shardwheel';
  import { createTimers } from 'shardwheel/timers';
  Error.stackTraceLimit = 30;
  const scheduler = createScheduler({ shards: ${shards} });
  await scheduler.ready;
  const { setTimeout, setInterval, clearInterval } = createTimers(scheduler);
  const stacks = {};
  const note = (name) => { stacks[name] ??= new Error().stack.split('\\n').slice(1); };
  const ways = {
    'setTimeout': (run) => setTimeout(run, 10),
    'setInterval': (run) => { const interval = setInterval(() => { clearInterval(interval); run(); }, 10); },
    'scheduleAfter': (run) => scheduler.scheduleAfter(0, 10, run),
    'in a context': (run) => new AsyncLocalStorage().run(1, () => setTimeout(run, 10)),
    'scheduleAfter in a context': (run) => new AsyncLocalStorage().run(1, () => scheduler.scheduleAfter(0, 10, run)),
  };
  const waits = {
    'await setTimeout': () => new Promise((resolve) => setTimeout(resolve, 10)),
    'await scheduleAfter': () => new Promise((resolve) => scheduler.scheduleAfter(0, 10, resolve)),
    'await timeout': () => scheduler.withTimeout(new Promise(() => {}), 10).catch(() => {}),
  };
  for (const [name, set] of Object.entries(ways)) await new Promise((resolve) => set(() => { note(name); resolve(); }));
  async function continued(name, wait) { await wait(); note(name); }
  async function calling(name, wait) { await continued(name, wait); }
  for (const [name, wait] of Object.entries(waits)) {
    const more = [setTimeout(() => {}, 10), setTimeout(() => {}, 10)]; // there are others, before and after
    await calling(name, wait);
  }
  console.log(JSON.stringify(stacks));
  await scheduler.close();`;

test.each([0, 1])(
  'at most four frames of ours are below a callback, and async callers are shown: shards %i',
  async (shards) => {
    const { stdout, stderr } = await runText(program(shards));
    expect(stderr).toBe('');
    const stacks: Record<string, string[]> = JSON.parse(stdout);
    expect(Object.keys(stacks).length).toBe(8);
    for (const [name, lines] of Object.entries(stacks)) {
      const ours = lines.filter((line) => line.includes('/lib/chunks/'));
      expect([name, ours.length > 4 ? ours : []]).toEqual([name, []]);
      if (name.startsWith('await'))
        expect([name, lines.join()]).toEqual([name, expect.stringContaining('async calling')]);
    }
  },
);

test('with the stack limit that there is, the async callers are shown as with Node', async () => {
  const callers = (module: string) => `
    import timers from '${module}';
    async function one() { await new Promise((resolve) => timers.setTimeout(resolve, 10)); return new Error('here'); }
    async function two() { return await one(); }
    async function three() { return await two(); }
    const { stack } = await three();
    console.log(stack.split('\\n').filter((line) => line.includes('at async')).length);`;
  const counts = await Promise.all(['node:timers', 'shardwheel/timers'].map((module) => runText(callers(module))));
  expect(counts[1].stdout).toBe(counts[0].stdout);
  expect(Number(counts[0].stdout)).toBeGreaterThanOrEqual(2);
});
