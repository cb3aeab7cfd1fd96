// The module's functions work where a program has deleted the globals.
import timers from 'node:timers';
import { mustCall } from './must-call.mjs';

for (const name of ['Timeout', 'Interval', 'Immediate']) {
  delete globalThis[`set${name}`];
  delete globalThis[`clear${name}`];
}

const timeout = timers.setTimeout(
  mustCall(() => timers.clearTimeout(timeout)),
  1,
);
const interval = timers.setInterval(
  mustCall(() => timers.clearInterval(interval)),
  1,
);
const immediate = timers.setImmediate(mustCall(() => timers.clearImmediate(immediate)));
