// A timeout that is refreshed in its callback keeps the process, and fires again.
import { mustCall } from './must-call.mjs';

let calls = 0;
const timeout = setTimeout(
  mustCall(() => {
    calls += 1;
    if (calls === 1) timeout.refresh();
  }, 2),
  1,
);
