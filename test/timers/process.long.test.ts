import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { runOnFaces } from './run-on-face.ts';

describe('the end of the process, as with node:timers', () => {
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
    [
      'refreshed in vain, others of its delay behind it',
      `setTimeout(() => {
         const t = setTimeout(log, 10, 'one');
         for (const name of ['two', 'three', 'four']) setTimeout(log, 10, name);
         t._idleTimeout = -1;
         t.refresh();
       }, 5);`,
      ['one', 'two', 'three', 'four'],
    ],
    ['an interval that is unref', `setInterval(log, ${minute}, 'call').unref();`, []],
    [
      'an interval that clears itself',
      `let n = 0; const i = setInterval(() => { log(n += 1); if (n === 3) i.close(); }, 5);`,
      ['1', '2', '3'],
    ],
    [
      'promises',
      `promises.setTimeout(${minute}, 0, { ref: false }); promises.setInterval(${minute}, 0, { ref: false }).next();
       await promises.setTimeout(50); log('slept');`,
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
    [
      'an immediate without a ref, set by the last one',
      `setImmediate(() => { log('last'); setImmediate(log, 'never').unref(); });`,
      ['last'],
    ],
    [
      'an interval that gives up its ref in its callback',
      `const i = setInterval(() => log(i.unref().hasRef()), 100);`,
      ['false'],
    ],
    [
      'an interval that gives up its ref, and then a server that closes',
      `const server = (await import('node:net')).createServer().listen(0, '127.0.0.1');
       let n = 0;
       const i = setInterval(() => { i.unref(); if ((n += 1) === 4) server.close(() => log('closed')); }, 1);`,
      ['closed'],
    ],
    [
      'beforeExit, again for each handler that sets what holds the process',
      `let links = 5;
       const link = () => { links -= 1; if (links > 0) setTimeout(link, 1); else log('chain'); };
       const handlers = [
         () => setImmediate(log, 'immediate'),
         () => setTimeout(log, 1, 'timeout'),
         () => link(),
         () => process.nextTick(() => setImmediate(log, 'immediate of a tick')),
         () => { setTimeout(log, 1, 'never').unref(); process.nextTick(log, 'tick'); },
       ];
       process.on('beforeExit', () => { log('beforeExit'); handlers.shift()(); });`,
      ['immediate', 'timeout', 'chain', 'immediate of a tick', 'tick'].flatMap((what) => ['beforeExit', what]),
    ],
    [
      'process.exit() in beforeExit, where a timer is set',
      `process.on('beforeExit', () => { log('beforeExit'); setTimeout(log, 5, 'never'); process.exit(); });`,
      ['beforeExit'],
    ],
    [
      'process.exit() with live timers',
      `process.on('beforeExit', () => log('never')); setTimeout(log, ${minute}); setTimeout(log, 1).unref(); process.exit();`,
      [],
    ],
    [
      'set by an exit handler, and due before that ends',
      `process.on('exit', () => { setTimeout(log, 0, 'never'); block(10); log('exit'); });`,
      ['exit'],
    ],
    [
      'the globals are deleted, and `process` is another',
      `for (const name of ['Timeout', 'Interval', 'Immediate']) { delete globalThis['set' + name]; delete globalThis['clear' + name]; }
       globalThis.process = {};
       setTimeout(log, 1, 'timeout');
       const i = setInterval(() => { clearInterval(i); log('interval'); setImmediate(log, 'immediate'); }, 50);`,
      ['timeout', 'interval', 'immediate'],
    ],
    [
      'enroll and its kin, which Node had until 24, go on serving its timers',
      `process.noDeprecation = true;
       const { enroll, active, unenroll } = await import('node:timers');
       if (enroll === undefined) log('called');
       else {
         const [kept, taken] = ['called', 'never'].map((what) => ({ _onTimeout: () => log(what) }));
         for (const item of [kept, taken]) { enroll(item, 10); active(item); }
         unenroll(taken);
       }`,
      ['called'],
    ],
  ])('%s', async (_, program, expected) => {
    expect(await runOnFaces(program)).toMatchObject({ code: 0, lines: expected, stderr: '' });
  });
});

test('strange delays bring the warnings of this Node, each once in a process; those too long for it become 1 ms', async () => {
  const program = (module: string) => `import { clearInterval, clearTimeout, setInterval, setTimeout } from '${module}';
    process.removeAllListeners('warning');
    process.on('warning', ({ name, message }) => console.log(name, message.split('\\n', 1)[0]));
    for (const delay of [Number.NaN, -1, 2 ** 31]) {
      clearTimeout(setTimeout(() => {}, delay).refresh());
      clearInterval(setInterval(() => {}, delay));
    }
    setTimeout(console.log, 2 ** 31, 'fired');`;
  const register = ['--import', 'shardwheel/register'];
  const [right, ...others] = await Promise.all([
    runText(program('node:timers')),
    runText(program('node:timers'), register),
    runText(program('node:timers'), register, { SHARDWHEEL_TIMERS_FROM: '1' }),
    runText(program('shardwheel/timers'), [], { SHARDWHEEL_TIMERS: 'node' }),
  ]);
  const lines = right.stdout.split('\n').filter(Boolean);
  const hasWarnings = Number.parseInt(process.versions.node, 10) >= 24;
  expect([lines.length, lines.at(-1)]).toEqual([hasWarnings ? 6 : 4, 'fired']);
  for (const other of others) expect(other).toEqual(right);
});
