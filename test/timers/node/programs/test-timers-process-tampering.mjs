// An immediate, and a timeout, run where the program has replaced the global `process`.
import { mustCall } from './must-call.mjs';

globalThis.process = {};
setImmediate(mustCall());
setTimeout(mustCall(), 1);
