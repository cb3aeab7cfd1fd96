import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

/** `npm run test:slow` takes 10,000, which take minutes. */
const COUNT = process.env.SHARDWHEEL_SLOW === '1' ? 10_000 : 4000;
/** Bytes for each: less than the smallest object with a reference to it in a list. */
const MOST = 32;

/**
 * How one of many timers is started, with `i` its number; `outer` is a signal that lives on, `group` a group, `label` a
 * label.
 */
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

/**
 * What is left of the lots of one way: live timers of any kind and listeners; bytes of heap for each timer. Of five
 * lots that is the second least: code that is compiled meanwhile is seen in some, and what a timer leaves in all.
 */
interface Left {
  way: string;
  left: number[];
  bytes: number;
}

/** Starts lots of a kind in a process of its own, and ends them in each way. */
async function leftOf(kind: string, shards: number): Promise<Left[]> {
  const lots = Object.entries(ways).map(
    ([way, end]) => `async (lasting) => {
       const scheduler = createScheduler({ shards: ${shards} });
       await scheduler.ready;
       scheduler.on('fired', ({ length }) => void (calls += length));
       const timers = createTimers(scheduler);
       const label = scheduler.label('kind');
       const scaled = scheduler.label('scaled', { min: 1 });
       const group = scheduler.group(1);
       const dropIns = [];
       const inner = new AbortController();
       const outer = ${kind === 'drop-in promise' && way === 'cancelled with its group'} ? inner.signal : lasting.signal;
       const delay = ${way === 'delivered' ? 30 : 600_000};
       for (let i = 0; i < ${COUNT}; i++) ${kinds[kind]};
       await pass(1);
       ${end}
       await pass(1);
       const left = [scheduler.size, label.size, scaled.size, group.size, getEventListeners(lasting.signal, 'abort').length];
       await scheduler.close();
       return left;
     }`,
  );
  const { code, stdout, stderr } = await runText(
    `import { getEventListeners } from 'node:events';
     import { createScheduler, createTimers } from 'shardwheel';
     const pass = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
     let calls = 0;
     const called = () => void (calls += 1);
     const lasting = new AbortController();
     const heap = async () => {
       // What one collection finalizes lets the next collect more.
       for (let i = 0; i < 3; i++) {
         gc();
         await pass(10);
       }
       return process.memoryUsage().heapUsed;
     };
     const all = [];
     for (const lot of [${lots.join(', ')}]) {
       let before = await heap();
       const growths = [];
       let left;
       for (let i = 0; i < 5; i++) {
         left = await lot(lasting);
         const after = await heap();
         growths.push(after - before);
         before = after;
       }
       all.push({ left, bytes: Math.round(growths.sort((one, other) => one - other)[1] / ${COUNT}) });
     }
     console.log(JSON.stringify(all));`,
    ['--expose-gc'],
  );
  expect({ code, stderr }, kind).toEqual({ code: 0, stderr: '' });
  return (JSON.parse(stdout) as Omit<Left, 'way'>[]).map((left, i) => ({ way: Object.keys(ways)[i], ...left }));
}

/** With a shard, those that differ in what the thread has of them. */
const subjects = [
  ...Object.keys(kinds).map((kind) => [kind, 0] as const),
  ...['plain', 'repeating', 'sleep', 'signalAfter'].map((kind) => [kind, 1] as const),
];

describe('▲ no count, no listener and no memory outlives a timer', () => {
  test.each(subjects)('%s, shards %i', async (kind, shards) => {
    for (const { way, left, bytes } of await leftOf(kind, shards)) {
      expect(left, `${kind}, ${way}`).toEqual([0, 0, 0, 0, 0]);
      expect(bytes, `${kind}, ${way}`).toBeLessThan(MOST);
    }
  });
});
