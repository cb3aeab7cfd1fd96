import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promises from 'node:timers/promises';
import { propertiesIn } from '../patched-property.ts';
import { process } from '../process.ts';
import { isShardThread } from '../runtime.ts';
import {
  areNative,
  registered as found,
  native,
  type RegistrationState,
  setRegistered,
} from '../time/native-timers.ts';
import { registered, setOn, takeover } from './registered-functions.ts';
import { timersMode } from './timers-mode.ts';

const places = [
  ...propertiesIn(globalThis, registered.timers),
  ...propertiesIn(timers, registered.timers),
  ...propertiesIn(timers, registered.deprecated),
  ...propertiesIn(promises, registered.promises),
  ...propertiesIn(process, registered.process),
];

/**
 * Makes this thread's globals, `timers`, `timers/promises` and `util.promisify(setTimeout)` ours, for modules loaded
 * before and after. Node's own timers serve them until so many are live that the wheel of `shardwheel/timers` pays; see
 * docs/drop-in.md. A function that a module has already copied into a variable stays Node's. Immediates stay Node's as
 * well. Does nothing if any copy of the package has registered the thread, in the threads of shards, and with
 * SHARDWHEEL_TIMERS=off.
 */
export function register(): void {
  if (found() !== undefined || isShardThread() || timersMode === 'off') return;
  areNative(); // before ours are in their places
  setRegistered({ native, timers: registered.timers, unregister: takeBack, state: () => takeover.report() });
  setOn(true);
  for (const place of places) place.take();
  syncBuiltinESMExports();
}

/**
 * Reverts the registration of this thread. If another preload has wrapped a function since, the wrapper stays, around
 * Node's function. Timers that are set stay where they are.
 */
export function unregister(): void {
  found()?.unregister();
}

/** Returns who serves new timers of this thread, and how many are live; undefined if it is not registered. */
export const registration = (): RegistrationState | undefined => found()?.state();

function takeBack(): void {
  setRegistered(undefined);
  for (const place of places) place.giveBack();
  setOn(false);
  syncBuiltinESMExports();
}
