import { contexts, outsideContexts } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import { HANDED_BACK, type HomeTimer, REFED, SLOT } from '../client/home/home-timer.ts';
import { AllocationError, CapacityExceededError } from '../errors.ts';
import { setTimeout } from '../time/native-timers.ts';
import type { TimeoutSource } from './timeout-source.ts';

// Taken once: a program may replace them.
const { max, min } = Math;

/** ms after which the wheel is asked again, and a clear or `unref` meanwhile is noticed. */
const PAUSE_MS = 20;

/** The latest wait of each timer: of an earlier one, it has been set and has fired meanwhile. */
const waits = new WeakMap<HomeTimer, object>();

/**
 * Makes the next call of a timer that the wheel has no slot for, or gives it one meanwhile: of an timer, whose own
 * was freed for its callback, which may have set others; or of one that is refreshed when it has fired. Returns false
 * if the error is the program's: a wheel that is full and not a registered thread's, or closed.
 */
export function callByNode(
  timer: HomeTimer,
  source: TimeoutSource,
  deadline: number,
  context: Context,
  error: unknown,
): boolean {
  const { client, home, time } = source;
  const isLacking = error instanceof AllocationError || (error instanceof CapacityExceededError && source.isRegistered);
  if (!isLacking || time.memory.manual) return false;
  const own = {};
  waits.set(timer, own);
  const tryAgain = (): void => {
    if (waits.get(timer) !== own || timer[SLOT] >= 0 || !timer._onTimeout) return; // refreshed, or cleared
    if (client.isClosed) {
      timer[HANDED_BACK]();
    } else if (time.read() >= deadline) {
      contexts.runUncaught(context, timer); // which sets its next call
    } else {
      try {
        home.add(timer, deadline, context, true);
      } catch {
        wait(); // still no slot: until then Node makes the call
      }
    }
  };
  const wait = (): void => {
    const native = outsideContexts(() => setTimeout(tryAgain, max(1, min(PAUSE_MS, deadline - time.read()))));
    if (!timer[REFED]) native.unref();
  };
  wait();
  return true;
}
