import { describe, expect, test } from 'vitest';
import { runtime } from '../../src/runtime.ts';
import { runModule } from '../fixtures/child-process.ts';
import { killing } from '../fixtures/shard-threads.ts';

/** What the process tells as it ends: how long it went on after the module's text began, and what it noted. */
const preamble = `
  const began = performance.now();
  const notes = [];
  process.on('exit', () => console.log(JSON.stringify({ elapsed: performance.now() - began, notes })));
`;

/** Runs a module and expects it to end by itself; upper bounds are generous, for a busy machine. */
async function ends(text: string, shards: number): Promise<{ elapsed: number; notes: unknown[] }> {
  const { code, stdout, stderr } = await runModule(preamble + text, shards);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

const AT_ONCE = 40_000;

describe.concurrent.each([0, 1, 2])('guarantee 11, natural exit: shards %i', (shards) => {
  test('one 50 ms timer and nothing else: the process ends by itself after it', async () => {
    const { elapsed, notes } = await ends(
      `createScheduler({ shards }).scheduleAfter('a', 50, (argument) => notes.push(argument), 'fired');`,
      shards,
    );
    expect(notes).toEqual(['fired']);
    expect(elapsed).toBeGreaterThanOrEqual(50);
    expect(elapsed).toBeLessThan(AT_ONCE);
  });

  test('a live timer holds the process to its deadline', async () => {
    const { elapsed, notes } = await ends(
      `const scheduler = createScheduler({ shards });
       await scheduler.ready;
       const id = scheduler.scheduleAfter('a', 100, () => notes.push('fired'));
       scheduler.scheduleAfter('b', 1500);
       scheduler.unref().ref();
       setTimeout(() => scheduler.rescheduleAfter(id, 400), 50);
       scheduler.on('fired', () => notes.push('batch'));
       scheduler.cancel(scheduler.scheduleAfter('b', 60_000));
       scheduler.cancelMany(scheduler.scheduleMany([1, 2], [1e6, 1e7]));
       setTimeout(() => scheduler.unref(), 200);
       setTimeout(() => scheduler.ref(), 300);`,
      shards,
    );
    expect(notes).toEqual(['fired', 'batch']);
    expect(elapsed).toBeGreaterThanOrEqual(1500);
    expect(elapsed).toBeLessThan(1500 + AT_ONCE);
  });

  test('beside deadline signals a timer does; cancelled, it does no longer', async () => {
    const { elapsed } = await ends(
      `const scheduler = createScheduler({ shards });
       scheduler.signalAfter(60_000); scheduler.signalAfter(10); const signal = scheduler.signalAfter(60_000);
       const id = scheduler.scheduleAfter(1, 60_000);
       setTimeout(() => {
         scheduler.cancel(id); signal[Symbol.dispose](); signal[Symbol.dispose]();
         scheduler.scheduleAfter(1, 1000, () => undefined);
       }, 200);`,
      shards,
    );
    expect(elapsed).toBeGreaterThanOrEqual(1000);
    expect(elapsed).toBeLessThan(AT_ONCE);
  });

  test('a pending advanceTo of a manual clock holds the process', async () => {
    const { notes } = await ends(
      `const scheduler = createScheduler({ shards, clock: 'manual' });
       scheduler.schedule('a', 10, () => notes.push('fired'));
       notes.push(await scheduler.advanceTo(10));`,
      shards,
    );
    expect(notes).toEqual(['fired', 1]);
  });
});

test.concurrent.each([0, 2])('guarantee 11, natural exit, at once: shards %i', async (shards) => {
  const reasons = {
    'nothing scheduled': '',
    unref: `scheduler.unref().scheduleAfter('a', 60_000, () => notes.push('fired'));`,
    'unref after scheduling': `scheduler.scheduleAfter('a', 60_000, () => notes.push('fired')); scheduler.unref();`,
    'ready only': 'await scheduler.ready;',
    cancelled: `scheduler.cancel(scheduler.scheduleAfter('a', 60_000));`,
    'cancelled later': `await scheduler.ready; const id = scheduler.scheduleAfter('a', 60_000);
                          setTimeout(() => scheduler.cancel(id), 60);`,
    'stats and nextExpiration': 'await scheduler.stats(); await scheduler.nextExpiration();',
    closed: `scheduler.scheduleAfter('a', 60_000); await scheduler.close();`,
    'closed, not awaited': `scheduler.scheduleAfter('a', 60_000); scheduler.close();`,
    'deadline signals': 'scheduler.signalAfter(60_000);',
    'a label with ref: false': `const label = scheduler.label('entry', { ref: false });
      for (let i = 0; i < 100; i++) label.scheduleAfter(i, 60_000);
      label.scheduleEvery('a', 60_000, () => notes.push('fired')); label.scheduleAfter(scheduler.group(1), 60_000);
      scheduler.sleep(60_000, { label }); scheduler.signalAfter(60_000, { label }); scheduler.signalAfter(60_000);
      await scheduler.ready; scheduler.cancel(label.scheduleAfter(1, 60_000)); scheduler.cancel(scheduler.scheduleAfter(1, 60_000));`,
    aborted: `const controller = new AbortController();
                createScheduler({ shards, signal: controller.signal }).scheduleAfter('a', 60_000);
                controller.abort();`,
  };
  const list = Object.entries(reasons);
  for (const [name, text] of list) {
    const { elapsed, notes } = await ends(`const scheduler = createScheduler({ shards });\n${text}`, shards);
    expect(notes, name).toEqual([]);
    expect(elapsed, name).toBeLessThan(AT_ONCE);
  }
  expect(list.length).toBe(12);
});

/** Each keeps the loop busy for good: what falls due takes longer than until the next falls due. */
const busy = {
  'intervals of a scheduler that is unref()ed': `scheduler.unref();
    for (let i = 0; i < 60; i++) scheduler.scheduleEvery(i, 10, burn);`,
  'the same, each call made up for': `scheduler.unref();
    for (let i = 0; i < 60; i++) scheduler.scheduleEvery(i, 10, burn, undefined, { missedCalls: 'burst' });`,
  'timers of a label with ref: false that start anew': `const label = scheduler.label('tidy', { ref: false });
    const again = () => { burn(); label.scheduleAfter(1, 1, again); };
    for (let i = 0; i < 60; i++) again();`,
  ...(runtime === 'node' && {
    'drop-in intervals that are unref()ed': `const { setInterval } = await import('./lib/timers.js');
      for (let i = 0; i < 60; i++) setInterval(burn, 10).unref();`,
  }),
};

test.concurrent.each([0, 1])('guarantee 11, timers that hold nothing keep the loop busy: shards %i', async (shards) => {
  for (const [name, text] of Object.entries(busy)) {
    const { notes } = await ends(
      `const scheduler = createScheduler({ shards });
       await scheduler.ready;
       const burn = () => { for (const end = performance.now() + 1; performance.now() < end; ); };
       ${text}
       await new Promise((resolve) => { setTimeout(resolve, 100); });
       notes.push('the last that held the process');`,
      shards,
    );
    expect(notes, name).toEqual(['the last that held the process']);
  }
});

test.concurrent.each([1, 2])('guarantee 11, natural exit, though a thread dies: shards %i', async (shards) => {
  const { elapsed, notes } = await ends(
    `const scheduler = createScheduler({ shards });
       scheduler.on('shard-restart', ({ rescheduled }) => notes.push('restart'));
       await scheduler.ready;
       scheduler.scheduleAfter('a', 500, () => notes.push('fired'));
       setTimeout(() => ${killing}, 50);`,
    shards,
  );
  expect(notes).toEqual(['restart', 'fired']);
  expect(elapsed).toBeGreaterThanOrEqual(500);
  expect(elapsed).toBeLessThan(AT_ONCE);
});
