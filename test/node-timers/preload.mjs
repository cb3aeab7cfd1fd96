/**
 * Puts the face in place of Node's timers: the globals, and what `timers` and `timers/promises` export. The library's own
 * files go on calling Node's functions, which the caller's stack frame decides. FACE_OPTIONS: those of createTimers.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { createScheduler } from '../../dist/src/index.js';
import modules, { createTimers } from '../../dist/src/timers.js';

const { FACE_OPTIONS } = process.env;
const face = FACE_OPTIONS ? createTimers(createScheduler({ shards: 'auto' }), 0, JSON.parse(FACE_OPTIONS)) : modules;

const library = new URL('../../dist/src/', import.meta.url).href;
const require = createRequire(import.meta.url);

function isCalledByLibrary() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 3;
  const frames = new Error('to see the frames').stack.split('\n');
  Error.stackTraceLimit = stackTraceLimit;
  return frames[3]?.includes(library) ?? false;
}

function replace(exports, name, replacement) {
  const nodes = exports[name];
  exports[name] = new Proxy(replacement, {
    apply: (target, self, given) => Reflect.apply(isCalledByLibrary() ? nodes : target, self, given),
  });
}

const timers = require('node:timers');
for (const name of ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'clearImmediate']) {
  replace(timers, name, face[name]);
  globalThis[name] = timers[name];
}
for (const name of ['setTimeout', 'setInterval']) {
  replace(timers.promises, name, face.promises[name]);
  face.promises[name] = timers.promises[name]; // where util.promisify looks
}
timers.promises.scheduler.wait = face.promises.scheduler.wait;
syncBuiltinESMExports();
