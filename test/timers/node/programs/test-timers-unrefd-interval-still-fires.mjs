// An interval without a ref fires while something keeps the process; what is set as its callback once it is cleared is
// never called.
import { mustCall, mustNotCall } from './must-call.mjs';

const CALLS = 3;
const keeper = setTimeout(mustNotCall(), 5_000);
let calls = 0;
const interval = setInterval(
  mustCall(() => {
    calls += 1;
    if (calls < CALLS) return;
    clearInterval(interval);
    interval._onTimeout = mustNotCall();
    clearTimeout(keeper);
  }, CALLS),
  1,
);
interval.unref();
