// A timer without a ref, set by a beforeExit handler, does not bring the process back.
import { mustCall, mustNotCall } from './must-call.mjs';

process.on(
  'beforeExit',
  mustCall(() => setTimeout(mustNotCall(), 1).unref()),
);
