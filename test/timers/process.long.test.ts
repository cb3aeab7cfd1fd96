import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { modules } from './subjects.ts';

/** Runs a program once on each module; what it prints, and how it ends, must be the same, and as expected. */
async function onBoth(program: string) {
  const run = (module: string) =>
    runText(`import timers from '${module}'; const { setTimeout, setInterval, clearTimeout, promises } = timers;
             const log = (...what) => console.log(...what);\n${program}`);
  const [nodes, own] = await Promise.all(modules.map(run));
  expect({ ...own, stderr: '' }).toEqual({ ...nodes, stderr: '' });
  return own;
}

const lines = ({ stdout }: { stdout: string }) => stdout.split('\n').filter(Boolean);

describe.concurrent('the end of the process, as with node:timers', () => {
  const minute = 60_000;
  // Each ends at once, or with the last timer that holds it: one that held it wrongly would run into the time limit.
  test.each([
    ['nothing is set', '', []],
    ['one timer', `setTimeout(log, 50, 'fired');`, ['fired']],
    ['unref', `setTimeout(log, ${minute}).unref();`, []],
    ['unref and ref', `setTimeout(log, 1500, 'fired').unref().unref().ref().ref();`, ['fired']],
    ['one of two unref', `setTimeout(log, ${minute}).unref(); setTimeout(log, 100, 'fired');`, ['fired']],
    ['unref later', `const t = setTimeout(log, ${minute}); setTimeout(() => t.unref(), 50);`, []],
    ['cleared', `clearTimeout(setTimeout(log, ${minute}));`, []],
    ['cleared later', `const t = setTimeout(log, ${minute}); setTimeout(() => clearTimeout(t), 50);`, []],
    ['cleared, then refreshed', `const t = setTimeout(log, ${minute}); clearTimeout(t); t.refresh();`, []],
    [
      'unref, then cleared',
      `clearTimeout(setTimeout(log, ${minute}).unref()); setTimeout(log, 50, 'fired');`,
      ['fired'],
    ],
    [
      'cleared, then unref',
      `const t = setTimeout(log, ${minute}); clearTimeout(t); t.unref().ref().unref();
                             setTimeout(log, 50, 'fired');`,
      ['fired'],
    ],
    ['unref, refreshed', `setTimeout(log, ${minute}).unref().refresh();`, []],
    [
      'unref, fires beside another',
      `const t = setTimeout(log, 10, 'one').unref();
                                     setTimeout(() => { log(t.hasRef()); t.refresh(); setTimeout(log, 300, 'two'); }, 200);`,
      ['one', 'false', 'one', 'two'],
    ],
    ['an interval that is unref', `setInterval(log, ${minute}, 'call').unref();`, []],
    [
      'an interval that clears itself',
      `let n = 0; const i = setInterval(() => { log(n += 1); if (n === 3) i.close(); }, 5);`,
      ['1', '2', '3'],
    ],
    [
      'promises',
      `promises.setTimeout(${minute}, 0, { ref: false }); await promises.setTimeout(50); log('slept');`,
      ['slept'],
    ],
    ['an async interval', `for await (const _ of promises.setInterval(5)) { log('call'); break; }`, ['call']],
    [
      'an aborted sleep',
      `const a = new AbortController();
                          promises.setTimeout(${minute}, 0, { signal: a.signal }).catch((e) => log(e.name));
                          setTimeout(() => a.abort(), 50);`,
      ['AbortError'],
    ],
    [
      'refresh from an exit handler',
      `const t = setTimeout(log, 10, 'fired'); process.on('exit', () => t.refresh());`,
      ['fired'],
    ],
  ])('%s', async (_, program, expected) => {
    const ended = await onBoth(program);
    expect({ code: ended.code, lines: lines(ended), stderr: ended.stderr }).toEqual({
      code: 0,
      lines: expected,
      stderr: '',
    });
  });
});

// Node counts from the start of the turn of the loop, the face from the call: those set in one turn may be due in two.
const busyUntilAllAreDue = 'for (const end = performance.now() + 20; performance.now() < end; );';

describe.concurrent('errors, as with node:timers', () => {
  test('a throwing callback is an uncaught exception before the next callback runs, and no other timer is lost', async () => {
    const ended = await onBoth(`
      process.on('uncaughtException', (error, origin) => log('caught', error.message, origin));
      for (const name of ['one', 'two', 'three', 'four']) {
        setTimeout(() => {
          log(name);
          if (name === 'two' || name === 'three') throw new Error(name);
        }, 10);
      }
      ${busyUntilAllAreDue}
      let calls = 0;
      const interval = setInterval(() => { calls += 1; if (calls === 3) { clearTimeout(interval); log('calls', calls); } throw new Error('call'); }, 100);`);
    expect(ended.code).toBe(0);
    expect(lines(ended)).toEqual([
      ...['one', 'two', 'caught two uncaughtException', 'three', 'caught three uncaughtException', 'four'],
      ...['caught call uncaughtException', 'caught call uncaughtException', 'calls 3', 'caught call uncaughtException'],
    ]);
  });

  test('nobody catches it: the process ends with it, and runs no further callback', async () => {
    const ended = await onBoth(`
      setTimeout(() => { log('one'); throw new Error('nobody catches this'); }, 10);
      setTimeout(log, 10, 'two');`);
    expect(ended.code).toBe(1);
    expect(lines(ended)).toEqual(['one']);
    expect(ended.stderr).toContain('Error: nobody catches this');
  });

  test('an unhandled rejection in a callback ends the process, too', async () => {
    const ended = await onBoth(
      `setTimeout(async () => { throw new Error('in a promise'); }, 10); setTimeout(log, 60_000);`,
    );
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('Error: in a promise');
  });
});

test('the module makes no thread for a timer', async () => {
  const { stdout } = await runText(`
    import { setTimeout, setImmediate, clearTimeout } from 'shardwheel/timers';
    import worker from 'node:worker_threads';
    const count = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    clearTimeout(5); setImmediate(() => {});
    console.log(process.report.getReport().workers.length);
    setTimeout(() => console.log(process.report.getReport().workers.length), 50);`);
  expect(stdout).toBe('0\n0\n');
});
