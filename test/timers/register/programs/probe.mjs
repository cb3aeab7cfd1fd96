// What the face's default timers have done in this thread.
import { defaultClients } from '../../../../lib/chunks/default-timers.js';

/** Timers that were set on the face so far. */
export const scheduled = () => defaultClients().reduce((sum, { scheduled }) => sum + scheduled, 0);

/** Whether a call sets a timer on the face. */
export function isFace(call) {
  const before = scheduled();
  call();
  return scheduled() > before;
}
