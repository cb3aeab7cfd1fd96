// What an exit handler sets never fires, though it is due before the handler ends.
import { busyWait } from './busy-wait.mjs';
import { mustCall, mustNotCall } from './must-call.mjs';

process.prependListener(
  'exit',
  mustCall(() => {
    setTimeout(mustNotCall(), 0);
    busyWait(10);
  }),
);
