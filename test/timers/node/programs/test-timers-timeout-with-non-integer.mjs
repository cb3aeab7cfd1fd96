// A chain of timers of a hair more than 1 ms comes to its end.
import { mustCall } from './must-call.mjs';

const CALLS = 50;
let calls = 0;
const link = mustCall(() => {
  calls += 1;
  if (calls < CALLS) setTimeout(link, 1.00000000000001);
}, CALLS);
link();
