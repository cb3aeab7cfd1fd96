// process.exit() brings no beforeExit, though timers are live.
import { mustNotCall } from './must-call.mjs';

process.on('beforeExit', mustNotCall());
setTimeout(mustNotCall(), 10_000);
setTimeout(mustNotCall(), 1).unref();
process.exit();
