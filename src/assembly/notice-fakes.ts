import { areFaked, areNative } from '../time/native-timers.ts';
import { emitWarning } from '../unfaked.ts';

let isReported = false;

const REMEDY =
  "for time that a test moves use createScheduler({ clock: 'manual' }) and advanceTo(); for real time make the scheduler " +
  'when the fakes are gone. See "Fake timers" in docs/guide.md';

const LOAD_FIRST = 'load shardwheel before the fakes are installed. See "Fake timers" in docs/guide.md';

/** What a scheduler that is made now, while timers are faked, comes to; undefined for nothing. */
function consequence(isManual: boolean, areKnown: boolean): string | undefined {
  if (isManual) {
    const hidden = "they hid Node's own when shardwheel was loaded, so advanceTo() of this scheduler may never resolve";
    return areKnown ? undefined : `${hidden}; ${LOAD_FIRST}`;
  }
  const what = areKnown
    ? 'this scheduler goes by the real clock, which the fakes do not move'
    : "they hid Node's own when shardwheel was loaded, so the timers of this scheduler may never fire";
  return `${what}; ${REMEDY}`;
}

/**
 * Called before a scheduler is made: takes Node's timers anew where fakes hid them when the package was loaded, and
 * warns once in a thread whose timers are faked. Nothing that a test does to its fakes moves a real clock; and where
 * Node's own timers are hidden, no turn of the event loop comes, for a manual clock neither.
 */
export function noticeFakes(isManual: boolean): void {
  const areKnown = areNative();
  if (isReported || !areFaked()) return;
  const what = consequence(isManual, areKnown);
  if (what === undefined) return;
  isReported = true;
  emitWarning(`A scheduler was made while a test fakes the timers of this thread: ${what}`, {
    type: 'ShardwheelWarning',
    code: 'SHARDWHEEL_FAKE_TIMERS',
  });
}
