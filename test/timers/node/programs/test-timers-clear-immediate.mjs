// An immediate may clear itself.
import { mustCall } from './must-call.mjs';

for (let count = 0; count < 3; count++) {
  const immediate = setImmediate(mustCall(() => clearImmediate(immediate)));
}
