import { like, native } from '../time/native-timers.ts';
import type { Timeout } from './timeout.ts';

/** What node:timers has up to Node 22, and no type any more. */
export interface DeprecatedFunctions {
  /** Restarts the delay of an item, which then keeps the process alive. */
  active(item: unknown): void;
  /** The same, for an item that lets the process end. */
  _unrefActive(item: unknown): void;
  /** Gives an item a delay, in ms: it waits from `active` on. */
  enroll(item: unknown, delay: unknown): void;
  /** Ends the wait of an item, which may be enrolled again. */
  unenroll(item: unknown): void;
}

/**
 * The functions of these that this release of Node has, for handles of ours: they do what Node's do with one of
 * Node's. Anything else Node's own functions serve. For one of ours they get an object that stands in, so that they
 * warn, and refuse a delay, as in this release.
 */
export function deprecatedFunctions(owns: (item: unknown) => item is Timeout): Partial<DeprecatedFunctions> {
  const nodes = native.timers as unknown as Partial<DeprecatedFunctions>;
  const { active, _unrefActive, enroll, unenroll } = nodes;
  if (!active || !_unrefActive || !enroll || !unenroll) return {};
  return {
    active: like(active, (item: unknown): void => {
      if (owns(item)) restart(item, true);
      active(owns(item) ? {} : item);
    }),
    _unrefActive: like(_unrefActive, (item: unknown): void => {
      if (owns(item)) restart(item, false);
      _unrefActive(owns(item) ? {} : item);
    }),
    enroll: like(enroll, (item: unknown, delay: unknown): void => {
      if (owns(item)) {
        const standIn = { _idleTimeout: 0 };
        enroll(standIn, delay);
        takeOut(item);
        item._idleTimeout = standIn._idleTimeout;
      } else enroll(item, delay);
    }),
    unenroll: like(unenroll, (item: unknown): void => {
      if (owns(item)) takeOut(item);
      unenroll(owns(item) ? { _destroyed: true } : item);
    }),
  };
}

function restart(timeout: Timeout, isRef: boolean): void {
  if (!(timeout._idleTimeout >= 0)) return;
  if (isRef) timeout.ref();
  else timeout.unref();
  timeout.refresh();
}

/** Ends its wait and keeps its callback. */
function takeOut(timeout: Timeout): void {
  const { _onTimeout, _timerArgs } = timeout;
  timeout.close();
  timeout._onTimeout = _onTimeout;
  timeout._timerArgs = _timerArgs;
}
