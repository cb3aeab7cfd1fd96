import { areFaked, areNative } from '../time/native-timers.ts';
import { emitWarning } from '../unfaked.ts';

let isTold = false;

const REMEDY =
  "for time that a test moves use createScheduler({ clock: 'manual' }) and advanceTo(); for real time make the scheduler " +
  'when the fakes are gone. See "Fake timers" in docs/guide.md';

/**
 * Called before a scheduler is made that goes by the real clock: takes Node's timers anew where fakes hid them when the package was
 * loaded, and warns once in a thread whose timers are faked, since nothing that a test does to its fakes moves this clock.
 */
export function noticeFakes(): void {
  const areKnown = areNative();
  if (isTold || !areFaked()) return;
  isTold = true;
  const what = areKnown
    ? 'this scheduler goes by the real clock, which the fakes do not move'
    : "they hid Node's own when shardwheel was loaded, so the timers of this scheduler may never fire";
  emitWarning(`A scheduler was made while a test fakes the timers of this thread: ${what}; ${REMEDY}`, {
    type: 'ShardwheelWarning',
    code: 'SHARDWHEEL_FAKE_TIMERS',
  });
}
