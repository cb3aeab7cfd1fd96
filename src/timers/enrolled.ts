import { native } from '../time/native-timers.ts';
import { like } from './like-nodes.ts';

/** Functions that make a timer of any object: deprecated, and removed in Node 24, but old packages call them. */
export interface EnrolledTimers {
  enroll(item: object, milliseconds: number): void;
  unenroll(item: object): void;
  active(item: object): void;
  _unrefActive(item: object): void;
}

/** The fields by which Node and packages recognise an object as a timer. */
interface Item {
  _idleTimeout?: number;
  _idleStart?: number;
  _idlePrev?: object | null;
  _idleNext?: object | null;
  _onTimeout?: ((...given: unknown[]) => unknown) | null;
  _timerArgs?: unknown[];
  _repeat?: number | null;
  _destroyed?: boolean;
}

/** The parts of a drop-in timeout that are used here. */
interface FaceTimeout {
  ref(): unknown;
  unref(): unknown;
  refresh(): unknown;
  close(): unknown;
}

/** The drop-in timers that carry the items. @internal */
export interface EnrolledHost {
  set(callback: (item: Item) => void, delay: number, item: Item): FaceTimeout;
  /** Whether active items are carried here, and not by Node. */
  isOn(): boolean;
  /** Whether an item is itself a drop-in timeout. */
  owns(item: unknown): item is FaceTimeout;
}

/** The timeout that fires an item, and the values with which it was set. */
interface Carrier {
  readonly timeout: FaceTimeout;
  readonly delay: number;
  isRef: boolean;
}

const carriers = new WeakMap<object, Carrier>();
const { now } = performance;
const milliseconds = (): number => Math.trunc(now.call(performance));

/** Node's own functions of these names, if this Node has them. */
const nodes = native.timers as unknown as Partial<EnrolledTimers>;

/**
 * Returns the functions of those names that this Node has, on drop-in timeouts. After lib/timers.js, v20. Each also calls Node's
 * own function with an item on which that has no effect, so Node refuses invalid items and warns of the deprecation. An item that
 * is linked to itself waits here; one in a list of Node's is left to Node.
 * @internal
 */
export function enrolledTimers(host: EnrolledHost): Partial<EnrolledTimers> {
  const { enroll, unenroll, active, _unrefActive } = nodes;
  if (!enroll || !unenroll || !active || !_unrefActive) return {};

  const activate = (item: Item, isRef: boolean): void => {
    const delay = item._idleTimeout;
    if (host.owns(item)) reference(item, isRef).refresh();
    else if (delay !== undefined && !(delay < 0)) carry(host, item, Math.trunc(delay), isRef);
  };
  const ours: EnrolledTimers = {
    enroll(item: Item, delay) {
      if (!host.isOn()) return enroll(item, delay);
      const probe: Item = {};
      enroll(probe, delay);
      if (isNodes(item)) unenroll(item);
      else if (host.owns(item)) item.close();
      else if (item._idleNext) release(item);
      link(item, item);
      item._idleTimeout = probe._idleTimeout;
    },
    unenroll(item: Item) {
      unenroll(isNodes(item) ? item : ({ _destroyed: true } as Item));
      if (host.owns(item)) item.close();
      else release(item);
    },
    active(item: Item) {
      if (isNodes(item) || !host.isOn()) return active(item);
      active({ _idleTimeout: -1 } as Item);
      activate(item, true);
    },
    _unrefActive(item: Item) {
      if (isNodes(item) || !host.isOn()) return _unrefActive(item);
      _unrefActive({ _idleTimeout: -1 } as Item);
      activate(item, false);
    },
  };
  for (const [name, call] of Object.entries(ours)) like(nodes[name as keyof EnrolledTimers] as typeof call, call);
  return ours;
}

/** Clears an item that waits here; returns false if it does not. @internal */
export function clearEnrolled(item: unknown): boolean {
  if (typeof item !== 'object' || item === null || !carriers.has(item)) return false;
  (item as Item)._onTimeout = null;
  release(item);
  return true;
}

/** Whether Node should handle an item: it is in one of Node's lists, or invalid, and Node refuses it. */
const isNodes = (item: Item | null | undefined): boolean =>
  item === undefined || item === null || (Boolean(item._idleNext) && item._idleNext !== item);

function link(item: Item, to: Item | null): void {
  item._idlePrev = to;
  item._idleNext = to;
}

function reference(timeout: FaceTimeout, isRef: boolean): FaceTimeout {
  if (isRef) timeout.ref();
  else timeout.unref();
  return timeout;
}

/** Makes the item wait for `delay` ms. */
function carry(host: EnrolledHost, item: Item, delay: number, isRef: boolean): void {
  item._idleStart = milliseconds();
  link(item, item);
  item._destroyed = false;
  const before = carriers.get(item);
  if (before?.delay === delay) {
    before.isRef = isRef;
    reference(before.timeout, isRef).refresh();
    return;
  }
  before?.timeout.close();
  const timeout = reference(
    host.set((item) => fired(host, item), delay, item),
    isRef,
  );
  carriers.set(item, { timeout, delay, isRef });
}

function fired(host: EnrolledHost, item: Item): void {
  if (isNodes(item)) return; // it was given to Node meanwhile
  link(item, null);
  if (!item._onTimeout) {
    item._destroyed = true;
    return;
  }
  try {
    if (item._timerArgs === undefined) item._onTimeout();
    else Reflect.apply(item._onTimeout, item, item._timerArgs);
  } finally {
    if (item._repeat && item._idleTimeout !== -1) {
      item._idleTimeout = item._repeat;
      carry(host, item, Math.trunc(item._repeat), carriers.get(item)?.isRef ?? true);
    } else if (!item._idleNext) item._destroyed = true;
  }
}

/** Ends the item's wait. */
function release(item: Item): void {
  if (item._destroyed) return;
  item._destroyed = true;
  carriers.get(item)?.timeout.close();
  carriers.delete(item);
  link(item, null);
  item._idleTimeout = -1;
}
