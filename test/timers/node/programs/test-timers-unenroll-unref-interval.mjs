// Five ways in which an interval without a ref ends itself in its callback: it is never called again.
import timers from 'node:timers';
import { mustCall } from './must-call.mjs';

const ways = [
  (interval) => clearTimeout(interval),
  (interval) => interval.close(),
  (interval) => {
    interval._idleTimeout = -1;
  },
  (interval) => {
    interval._onTimeout = null;
  },
];
if (timers.unenroll !== undefined) ways.push((interval) => timers.unenroll(interval));
for (const end of ways) {
  const interval = setInterval(
    mustCall(() => end(interval)),
    1,
  ).unref();
}

// It keeps the process for two rounds: an interval that went on would be called in the second.
setTimeout(
  mustCall(() => setTimeout(mustCall(), 1)),
  1,
);
