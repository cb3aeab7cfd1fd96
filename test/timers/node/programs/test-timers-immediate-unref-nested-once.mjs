// An immediate without a ref, set by the last immediate, does not run.
import { mustCall, mustNotCall } from './must-call.mjs';

setImmediate(mustCall(() => setImmediate(mustNotCall()).unref()));
