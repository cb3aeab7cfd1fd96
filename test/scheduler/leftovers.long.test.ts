import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

const COUNT = 10_000;

/** How one of many timers is started, with `i` its number; `outer` is a signal that lives on, `group` a group, `label` a label. */
const kinds: Record<string, string> = {
  plain: 'scheduler.scheduleAfter(group, delay, called, { i })',
  'a closure each': 'scheduler.scheduleAfter(group, delay, () => called(i))',
  'in batches': 'scheduler.scheduleAfter(group, delay, undefined, { i })',
  labelled: 'label.scheduleAfter(group, delay, called, { i })',
  scaled: 'scaled.scheduleAfter(group, delay, called, { i })',
  repeating:
    'scheduler.scheduleEvery(group, 60_000, (_, id) => { called(i); scheduler.cancel(id); }, undefined, { first: delay })',
  sleep: 'scheduler.sleep(delay, { workerHint: group, signal: outer }).catch(called)',
  'withTimeout, promise':
    'scheduler.withTimeout(new Promise(() => undefined), delay, { workerHint: group, signal: outer, label }).catch(called)',
  'withTimeout, function':
    'scheduler.withTimeout(() => new Promise(() => undefined), delay, { workerHint: group, signal: outer }).catch(called)',
  signalAfter: 'scheduler.signalAfter(delay, { workerHint: group, signal: outer })',
  'drop-in': 'dropIns.push(timers.setTimeout(called, delay, i))',
  'drop-in promise': 'timers.promises.setTimeout(delay, i, { signal: outer }).catch(called)',
};

/** How all of them are ended, most of them at once. */
const ways: Record<string, string> = {
  delivered: 'await pass(delay + 20); while (scheduler.size > 0) await pass(5);',
  cancelled: `for (const { id, argument } of [...scheduler.liveTimers()]) id === undefined ? argument.close() : scheduler.cancel(id);`,
  'cancelled with its group': `group.cancelAll(); for (const each of dropIns) timers.clearTimeout(each); inner.abort();`,
  'handed back': 'await scheduler.close();',
};

/** What is left of them in a process: bytes of heap for each, listeners of the signal that lives on, whether the process ends. */
async function leftOf(kind: string, way: string, shards: number) {
  const { stdout, code } = await runText(
    `import { getEventListeners } from 'node:events';
     import { createScheduler, createTimers } from 'shardwheel';
     const lasting = new AbortController();
     const pass = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
     let calls = 0;
     const called = () => void (calls += 1);
     const lot = async () => {
       const scheduler = createScheduler({ shards: ${shards} });
       await scheduler.ready;
       scheduler.on('fired', ({ length }) => void (calls += length));
       const timers = createTimers(scheduler);
       const label = scheduler.label('kind');
       const scaled = scheduler.label('scaled', { min: 1 });
       const group = scheduler.group(1);
       const dropIns = [];
       const inner = new AbortController();
       const outer = ${JSON.stringify(kind)} === 'drop-in promise' && ${JSON.stringify(way)} === 'cancelled with its group' ? inner.signal : lasting.signal;
       const delay = ${way === 'delivered' ? 30 : 600_000};
       for (let i = 0; i < ${COUNT}; i++) ${kinds[kind]};
       await pass(1);
       ${ways[way]}
       await pass(1);
       const left = [scheduler.size, label.size, scaled.size, group.size, getEventListeners(lasting.signal, 'abort').length];
       await scheduler.close();
       return left;
     };
     await lot();
     await lot();
     gc();
     const before = process.memoryUsage().heapUsed;
     const left = await lot();
     await pass(1);
     gc();
     console.log(JSON.stringify({ left, bytes: Math.round((process.memoryUsage().heapUsed - before) / ${COUNT}) }));`,
    ['--expose-gc'],
  );
  expect(code, `${kind}, ${way}`).toBe(0);
  return JSON.parse(stdout) as { left: number[]; bytes: number };
}

describe.each([0, 1])('no count, no listener and no memory outlives a timer, shards %i', (shards) => {
  test.each(Object.keys(kinds))('%s', async (kind) => {
    for (const way of Object.keys(ways)) {
      const { left, bytes } = await leftOf(kind, way, shards);
      expect(left, `${kind}, ${way}`).toEqual([0, 0, 0, 0, 0]);
      expect(bytes, `${kind}, ${way}`).toBeLessThan(24); // an object for each would be 40 and more: this is code and its feedback
    }
  });
});
