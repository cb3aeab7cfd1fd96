// Loads the package while a library fakes the timers of the thread, makes a scheduler under the fakes and one when they
// are gone, and prints what has become of both. FAKES names the library, ENTRY what is loaded.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { setTimeout: realSetTimeout } = globalThis;
const real = (delay) => new Promise((resolve) => realSetTimeout(resolve, delay));
/** ms after which what has not come will not, on a busy machine either. */
const LONG = 3000;

const libraries = {
  sinon: () => {
    const clock = require('@sinonjs/fake-timers').install();
    return () => clock.uninstall();
  },
  'node-test': () => {
    const { mock } = require('node:test');
    mock.timers.enable();
    return () => mock.timers.reset();
  },
};

const warnings = [];
process.on('warning', ({ code, message }) => {
  if (code?.startsWith('SHARDWHEEL')) warnings.push(`${code}: ${message}`);
});

const uninstall = libraries[process.env.FAKES]();
const { createScheduler } = process.env.FORMAT === 'cjs' ? require('shardwheel') : await import('shardwheel');
const timers = process.env.FORMAT === 'cjs' ? require('shardwheel/timers') : await import('shardwheel/timers');

/** Which of the kinds of timers of a scheduler come. */
async function cameOf(options) {
  const scheduler = createScheduler(options);
  const came = [];
  scheduler.scheduleAfter(0, 5, () => came.push('timer'));
  const every = scheduler.scheduleEvery(0, 5, () => {
    if (!came.includes('interval')) came.push('interval');
    scheduler.cancel(every);
  });
  void scheduler.sleep(5).then(
    () => came.push('sleep'),
    () => undefined,
  );
  for (let waited = 0; waited < LONG && came.length < 3; waited += 10) await real(10);
  await Promise.race([scheduler.close(), real(2000)]);
  return came.sort();
}

/** Whether a manual clock can be moved. */
async function moves() {
  const scheduler = createScheduler({ shards: 0, clock: 'manual' });
  const waits = scheduler.sleep(10).then(() => scheduler.sleep(10));
  const isMoved = scheduler.advanceTo(20).then(() => waits.then(() => true));
  isMoved.catch(() => undefined); // close() ends what does not
  const moved = await Promise.race([isMoved, real(LONG).then(() => false)]);
  await Promise.race([scheduler.close(), real(2000)]);
  return moved;
}

if (process.env.FIRST === 'manual') {
  const moved = [await moves()];
  await real(20);
  const told = [...warnings];
  uninstall();
  moved.push(await moves());
  process.stdout.write(JSON.stringify({ moved, told, toldLater: warnings.length - told.length }));
  process.exit();
}
const under = await cameOf({ shards: 0 });
await cameOf({ shards: 0 }); // warns no more
await real(20);
const told = [...warnings];
uninstall();
const after = { inline: await cameOf({ shards: 0 }), threads: await cameOf({ shards: 1 }) };

/** Which functions of the drop-in face work when the fakes are gone. */
const dropIn = [];
timers.setTimeout(() => dropIn.push('setTimeout'), 5);
timers.setImmediate(() => dropIn.push('setImmediate'));
void timers.promises.setTimeout(5).then(() => dropIn.push('promises.setTimeout'));
void timers.promises.setImmediate().then(() => dropIn.push('promises.setImmediate'));
for (let waited = 0; waited < LONG && dropIn.length < 4; waited += 10) await real(10);
const isNodes = timers.setImmediate === setImmediate;

process.stdout.write(
  JSON.stringify({ under, told, toldLater: warnings.length - told.length, after, dropIn: dropIn.sort(), isNodes }),
);
process.exit();
