// A timeout whose _repeat is set by its callback becomes an interval.
import { mustCall } from './must-call.mjs';

const timeout = setTimeout(
  mustCall(() => {
    if (timeout._repeat) clearInterval(timeout);
    timeout._repeat = 1;
  }, 2),
  1,
);
