// Clearing a timeout in its own callback leaves one alone that the callback sets for the same delay: it can be cleared.
import { mustCall, mustNotCall } from './must-call.mjs';

const DELAY = 100;
const outer = setTimeout(
  mustCall(() => {
    clearTimeout(outer);
    const inner = setTimeout(mustNotCall(), DELAY);
    setTimeout(
      mustCall(() => clearTimeout(inner)),
      1,
    );
  }),
  DELAY,
);
