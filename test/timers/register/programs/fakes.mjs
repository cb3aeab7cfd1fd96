// Fake timers on a program, registered or not: what fake time governs while it is installed, what real time governs all
// the while, and what is left when it is taken away again. FAKES names the library.
import assert from 'node:assert';
import { createRequire } from 'node:module';
import { mock } from 'node:test';
import { setTimeout as imported } from 'node:timers';
import promises from 'node:timers/promises';
import { install } from '@sinonjs/fake-timers';
import { createScheduler } from 'shardwheel';
import { isFace } from './probe.mjs';

const begin = Date.now();

/** Libraries of fake timers, each by the calls that its documentation names. */
const fakes = {
  sinon: {
    hasPromises: true,
    install: () => install({ now: begin }),
    tick: (clock, by) => clock.tickAsync(by),
    uninstall: (clock) => clock.uninstall(),
  },
  'sinon-timers-alone': {
    hasPromises: false,
    install: () =>
      install({ now: begin, toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] }),
    tick: (clock, by) => clock.tickAsync(by),
    uninstall: (clock) => clock.uninstall(),
  },
  'node-test': {
    hasPromises: true,
    install: () => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'], now: begin }),
    tick: async (_, by) => {
      for (let past = 0; past < by; past += 10_000) {
        mock.timers.tick(10_000);
        await new Promise((resolve) => process.nextTick(resolve));
      }
    },
    uninstall: () => mock.timers.reset(),
  },
};

const library = fakes[process.env.FAKES];
const isRegistered = isFace(() => clearTimeout(setTimeout(() => undefined, 1)));
const native = { now: performance.now.bind(performance), setTimeout, clearTimeout, setInterval };
const functions = () => [setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, imported];
const before = functions();
const seen = [];
const see = (what) => () => seen.push(what);
/** Real time passes, whatever is faked: by a function that was taken before. */
const real = (delay) => new Promise((resolve) => native.setTimeout(resolve, delay));

/** A scheduler that is made while all is fake starts its thread and fires. */
async function onThreads() {
  const threaded = createScheduler({ shards: 1 });
  await threaded.ready;
  await new Promise((resolve) => threaded.scheduleAfter(0, 5, resolve));
  await threaded.close();
}

const scheduler = createScheduler({ shards: 0 });
const interval = setInterval(see('an interval of before'), 20);
const live = setTimeout(see('a timeout of before'), 30);
const refreshed = setTimeout(see('never: closed'), 60_000);
const cleared = setTimeout(see('never: cleared'), 60_000);
scheduler.scheduleAfter(0, 30, see('a timer of a scheduler'));

for (let round = 0; round < 2; round++) {
  const faked = library.install();
  assert.notStrictEqual(setTimeout, before[0]);
  const setAt = Date.now();
  const pending = setTimeout(see('never: it was pending when the fakes were taken away'), 1e9);
  const one = setTimeout(see('a fake timeout'), 60_000);
  const ticking = setInterval(see('a fake interval'), 40_000);
  const slept = library.hasPromises ? promises.setTimeout(50_000).then(see('a fake sleep')) : undefined;
  clearTimeout(setTimeout(see('never: a cleared fake'), 10));
  assert.ok(!isFace(() => clearTimeout(setTimeout(() => undefined, 1e9))));
  await real(10);
  assert.deepStrictEqual(
    seen.filter((what) => what.includes('fake')),
    [],
  );
  await library.tick(faked, 100_000);
  await slept;
  assert.strictEqual(Date.now() - setAt, 100_000);
  clearInterval(ticking);
  clearTimeout(one);
  const ofFakeTime = seen.filter((what) => what.includes('fake') && !what.includes('sleep'));
  assert.deepStrictEqual(ofFakeTime, ['a fake interval', 'a fake timeout', 'a fake interval']);
  assert.strictEqual(seen.includes('a fake sleep'), library.hasPromises);
  if (round === 0) {
    refreshed.refresh().close();
    cleared[Symbol.dispose](); // fake functions know only fake timers
    while (!seen.includes('a timer of a scheduler')) await real(5);
    while (!seen.includes('a timeout of before')) await real(5);
    while (seen.filter((what) => what === 'an interval of before').length < 3) await real(5);
    native.clearTimeout(interval);
    await onThreads();
  }
  library.uninstall(faked);
  clearTimeout(pending);
  for (const [at, was] of before.entries()) assert.strictEqual(functions()[at], was, String(at));
  assert.strictEqual(createRequire(import.meta.url)('timers').setTimeout, before[0]);
  assert.strictEqual(
    isFace(() => clearTimeout(setTimeout(() => undefined, 1))),
    isRegistered,
  );
  assert.strictEqual(
    isFace(() => void promises.setTimeout(1)),
    isRegistered,
  );
  assert.ok(Math.abs(Date.now() - setAt) < 90_000);
  seen.length = 0;
}
const after = setTimeout(see('a timeout of after'), 5);
while (seen.length < 1) await real(5);
assert.deepStrictEqual(seen, ['a timeout of after']);
assert.deepStrictEqual([live.hasRef(), after.hasRef()], [true, true]);
await scheduler.close();
process.stdout.write(JSON.stringify({ isRegistered }));
