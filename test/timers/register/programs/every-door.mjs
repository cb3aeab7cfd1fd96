// Which of the ways to Node's timers lead to the face.

import { createRequire } from 'node:module';
import timersDefault, * as timers from 'node:timers';
import { setInterval as namedInterval, promises as namedPromises, setTimeout as namedTimeout } from 'node:timers';
import { scheduler, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import bare from 'timers';
import promisesDefault, * as promises from 'timers/promises';
import { isFace, scheduled } from './probe.mjs';

const require = createRequire(import.meta.url);
const handles = [];
const sets = (call) => isFace(() => handles.push(call(() => undefined, 1e6)));
const sleeps = (call) => {
  const ending = new AbortController();
  return isFace(() => call(1e6, undefined, { signal: ending.signal }).catch(() => ending.abort()) && ending.abort());
};
const iterates = (call) => isFace(() => void call(1).next());
const waits = (wait) => {
  const ending = new AbortController();
  return isFace(() => wait(1e6, { signal: ending.signal }).catch(() => undefined) && ending.abort());
};

const found = {
  'global setTimeout': sets(setTimeout),
  'global setInterval': sets(setInterval),
  'globalThis.setTimeout': sets(globalThis.setTimeout),
  'namespace setTimeout': sets(timers.setTimeout),
  'namespace setInterval': sets(timers.setInterval),
  'default setTimeout': sets(timersDefault.setTimeout),
  'default setInterval': sets(timersDefault.setInterval),
  'bare default setTimeout': sets(bare.setTimeout),
  'named setTimeout': sets(namedTimeout),
  'named setInterval': sets(namedInterval),
  'require setTimeout': sets(require('timers').setTimeout),
  'require node: setInterval': sets(require('node:timers').setInterval),
  'named promises': sleeps(namedPromises.setTimeout),
  'named sleep': sleeps(sleep),
  'namespace sleep': sleeps(promises.setTimeout),
  'default sleep': sleeps(promisesDefault.setTimeout),
  'require sleep': sleeps(require('timers/promises').setTimeout),
  'timers.promises': sleeps(require('timers').promises.setTimeout),
  'util.promisify': sleeps(promisify(setTimeout)),
  'async interval': iterates(promises.setInterval),
  'scheduler.wait': waits(scheduler.wait.bind(scheduler)),
};
for (const handle of handles) clearTimeout(handle);

process.stdout.write(
  JSON.stringify({
    found,
    alike: [
      promisify(setTimeout) === sleep,
      timers.setTimeout === globalThis.setTimeout,
      timers.clearInterval === globalThis.clearInterval,
      namedPromises === promisesDefault,
    ],
    used: scheduled() > 0,
  }),
);
process.exit(); // an async interval goes on
