// clearTimeout clears intervals, and clearInterval timeouts.
import { mustNotCall } from './must-call.mjs';

clearTimeout(setInterval(mustNotCall(), 1));
clearInterval(setTimeout(mustNotCall(), 1));
