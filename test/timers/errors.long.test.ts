import { describe, expect, test } from 'vitest';
import { runOnFaces } from './run-on-face.ts';

describe('errors, as with node:timers', () => {
  test('a throwing callback is an uncaught exception before the next callback runs, and no other timer is lost', async () => {
    // Node counts from the start of the turn of the loop, the face from the call: those set in one turn may be due in
    // two.
    const { code, lines } = await runOnFaces(`
      process.on('uncaughtException', (error, origin) => log('caught', error.message, origin));
      for (const name of ['one', 'two', 'three', 'four']) {
        setTimeout(() => {
          log(name);
          if (name === 'two' || name === 'three') throw new Error(name);
        }, 10);
      }
      block(20);
      let calls = 0;
      const interval = setInterval(() => { calls += 1; if (calls === 3) { clearTimeout(interval); log('calls', calls); } throw new Error('call'); }, 100);`);
    expect(code).toBe(0);
    expect(lines).toEqual([
      ...['one', 'two', 'caught two uncaughtException', 'three', 'caught three uncaughtException', 'four'],
      ...['caught call uncaughtException', 'caught call uncaughtException', 'calls 3', 'caught call uncaughtException'],
    ]);
  });

  test('nobody catches it: the process ends with it, and runs no further callback', async () => {
    const { code, lines, stderr } = await runOnFaces(`
      setTimeout(() => { log('one'); throw new Error('nobody catches this'); }, 10);
      setTimeout(log, 10, 'two');`);
    expect([code, lines]).toEqual([1, ['one']]);
    expect(stderr).toContain('Error: nobody catches this');
  });

  test('an unhandled rejection in a callback ends the process, too', async () => {
    const { code, stderr } = await runOnFaces(
      `setTimeout(async () => { throw new Error('in a promise'); }, 10); setTimeout(log, 60_000);`,
    );
    expect(code).toBe(1);
    expect(stderr).toContain('Error: in a promise');
  });

  test('where a beforeExit handler throws, no timer that it has set fires, and exit comes once', async () => {
    const { code, lines, stderr } = await runOnFaces(`
      process.on('exit', (code) => { log('exit', code); process.exitCode = 0; });
      process.on('beforeExit', () => { setTimeout(log, 1, 'never'); throw new Error('of the handler'); });`);
    expect([code, lines]).toEqual([0, ['exit 1']]);
    expect(stderr).toContain('Error: of the handler');
  });

  test('one without a ref that takes it in its callback, and then throws, is over', async () => {
    const { code, lines } = await runOnFaces(`
      process.on('uncaughtException', ({ message }) => log(message));
      const timeout = setTimeout(() => { timeout.ref(); throw new Error('thrown'); }, 1).unref();
      setTimeout(() => log(timeout._destroyed), 200);`);
    expect([code, lines]).toEqual([0, ['thrown', 'true']]);
  });

  test('one that was refreshed while it was due comes behind the others, though its new time has come by then', async () => {
    const { lines } = await runOnFaces(`
      process.on('uncaughtException', () => undefined);
      setTimeout(() => {
        refreshed.refresh();
        block(5);
        throw new Error();
      }, 1);
      const refreshed = setTimeout(log, 1, 'refreshed');
      for (const name of ['one', 'two']) setTimeout(log, 1, name);
      block(5);`);
    expect(lines).toEqual(['one', 'two', 'refreshed']);
  });
});

describe('an error comes before the ticks of its callback, as with node:timers', () => {
  const hook = `const { createHook } = await import('node:async_hooks'); createHook({ init() {} }).enable();`;
  const ways = [
    ['while no hook is on', ''],
    ['while an async hook is on', hook],
    ['while a domain is loaded', `await import('node:domain');`],
  ];

  test.each(ways)('and ends the process, whatever they do: %s', async (_, before) => {
    const { code, lines, stderr } = await runOnFaces(`${before}
      process.on('exit', (code) => log('exit', code));
      setTimeout(() => {
        process.nextTick(() => { log('tick'); process.exit(0); });
        throw new Error('nobody catches this');
      }, 5);`);
    expect([code, lines]).toEqual([1, ['exit 1']]);
    expect(stderr).toContain('Error: nobody catches this');
  });

  test.each(ways)('and is caught before them: %s', async (_, before) => {
    const { code, lines } = await runOnFaces(`${before}
      process.on('uncaughtException', ({ message }) => log('caught', message));
      let calls = 0;
      const interval = setInterval(() => {
        calls += 1;
        if (calls === 2) clearInterval(interval);
        process.nextTick(log, 'tick');
        throw new Error('call ' + calls);
      }, 5);`);
    expect([code, lines]).toEqual([0, ['caught call 1', 'tick', 'caught call 2', 'tick']]);
  });

  test('and its domain has it before them', async () => {
    const { code, lines } = await runOnFaces(`
      const domain = (await import('node:domain')).create();
      domain.on('error', ({ message }) => log('domain', message));
      domain.run(() => setTimeout(() => {
        process.nextTick(log, 'tick');
        throw new Error('thrown');
      }, 5));`);
    expect([code, lines]).toEqual([0, ['domain thrown', 'tick']]);
  });
});

describe('the context of an error', () => {
  test('is that of its timer: for a monitor, for who captures it, and for its ticks, whose rejection has its own', async () => {
    const { lines } = await runOnFaces(`
      const storage = new AsyncLocalStorage();
      const note = (what, { message }) => log(what, message, storage.getStore());
      process.on('uncaughtExceptionMonitor', (error) => note('monitor', error));
      process.setUncaughtExceptionCaptureCallback((error) => note('captured', error));
      process.on('unhandledRejection', (error) => note('rejected', error));
      const reject = async () => { await null; throw new Error('of a promise'); };
      storage.run('timer', () => setTimeout(() => {
        process.nextTick(() => { log('tick', storage.getStore()); storage.run('promise', reject); });
        throw new Error('of a timer');
      }, 1));
      log(storage.getStore());`);
    const thrown = ['monitor of a timer timer', 'captured of a timer timer'];
    expect(lines).toEqual(['undefined', ...thrown, 'tick timer', 'rejected of a promise promise']);
  });

  test.each(['Promise.reject(new Error())', 'queueMicrotask(() => { throw new Error(); })'])(
    'after %s is not that of a timer which comes later',
    async (rejecting) => {
      const { lines } = await runOnFaces(`
        const storage = new AsyncLocalStorage();
        process.on('uncaughtException', () => undefined);
        const rejects = () => { ${rejecting}; };
        setTimeout(rejects, 5);
        storage.run('request', () => setTimeout(() => { throw new Error(); }, 5));
        setTimeout(rejects, 5);
        setTimeout(() => log(storage.getStore()), 5);
        block(30);`);
      expect(lines).toEqual(['undefined']);
    },
  );

  test('is not that of a timer which comes some ms later', async () => {
    const { lines } = await runOnFaces(`
      const storage = new AsyncLocalStorage();
      let thrown = 0;
      process.on('uncaughtException', () => { thrown += 1; });
      const rounds = 20;
      const seen = [];
      setTimeout(() => undefined, 2000); // holds the process
      const throwing = () => { setTimeout(() => undefined, 100); throw new Error(); };
      let round = 0;
      const rising = globalThis.setInterval(() => {
        round += 1;
        if (round === rounds) clearInterval(rising);
        setImmediate(() => {
          storage.run('request', () => setTimeout(throwing, 3));
          block(15);
        });
      }, 60);
      let noted = 0;
      const watching = globalThis.setInterval(() => {
        if (noted === thrown) return;
        noted += 1;
        if (noted === rounds) clearInterval(watching);
        setImmediate(() => {
          setTimeout(() => seen.push(storage.getStore()), 5);
          block(15);
        });
      }, 1);
      process.on('exit', () => log(seen.length, seen.filter((store) => store !== undefined).length));`);
    expect(lines).toEqual(['20 0']);
  });

  test('is not that of a timer without a context, which is refreshed before it', async () => {
    const { lines } = await runOnFaces(`
      const storage = new AsyncLocalStorage(), seen = new Set();
      process.on('uncaughtException', (error) => seen.add(error.message + ' in ' + storage.getStore()));
      let calls = 0;
      const interval = setInterval(() => { seen.add('call in ' + storage.getStore()); if ((calls += 1) === 8) interval.close(); }, 1);
      for (let round = 0; round < 4; round++) {
        storage.run('store ' + round, () => setTimeout(() => { interval.refresh(); throw new Error('error ' + round); }, 1 + 4 * round));
      }
      block(10);
      process.on('exit', () => log([...seen].sort().join()));`);
    const errors = [0, 1, 2, 3].map((n) => `error ${n} in store ${n}`);
    expect(lines).toEqual([['call in undefined', ...errors].join()]);
  });
});
