// process.exit() in a beforeExit handler ends the process, though the handler has set a timer.
import { fail } from './fail.mjs';
import { mustCall, mustNotCall } from './must-call.mjs';

process.on(
  'beforeExit',
  mustCall(() => {
    setTimeout(mustNotCall(), 5);
    process.exit(0);
    fail('the process goes on');
  }),
);
