import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promises from 'node:timers/promises';
import { isShardThread } from '../hosts/shard-thread-mark.ts';
import { process } from '../process.ts';
import { native, registration, setRegistration } from '../time/native-timers.ts';
import { activeResources } from './active-resources.ts';
import { placesIn } from './place.ts';
import { passToFace, registered } from './registered-functions.ts';

const { setTimeout, clearTimeout, setInterval, clearInterval, clearImmediate } = registered.timers;
const places = [
  ...placesIn(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval, clearImmediate }),
  ...placesIn(timers, registered.timers),
  ...placesIn(promises, registered.promises),
  ...placesIn(process, { getActiveResourcesInfo: activeResources }),
];

/**
 * Makes this thread's globals, `timers`, `timers/promises` and `util.promisify(setTimeout)` those of `shardwheel/timers`, for
 * modules loaded before and after. A function that a module has already copied into a variable stays Node's. Immediates stay
 * Node's as well. Does nothing if any copy of the package has registered the thread, and in the threads of shards.
 */
export function register(): void {
  if (registration() !== undefined || isShardThread()) return;
  setRegistration({ native, unregister: takeBack });
  passToFace(true);
  for (const place of places) place.take();
  syncBuiltinESMExports();
}

/**
 * Reverts the registration of this thread. If another preload has wrapped a function since, the wrapper stays, around Node's
 * function. Timers that are set stay where they are.
 */
export function unregister(): void {
  registration()?.unregister();
}

function takeBack(): void {
  setRegistration(undefined);
  for (const place of places) place.giveBack();
  passToFace(false);
  syncBuiltinESMExports();
}
