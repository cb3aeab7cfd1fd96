import { native } from '../time/native-timers.ts';
import { like } from './like-nodes.ts';

/** What makes a timer of any object: deprecated, and gone from Node 24 on, but old packages call it. */
export interface EnrolledTimers {
  enroll(item: object, milliseconds: number): void;
  unenroll(item: object): void;
  active(item: object): void;
  _unrefActive(item: object): void;
}

/** The fields by which Node, and packages, know an object that is a timer. */
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

/** What is asked of a timeout of the face. */
interface FaceTimeout {
  ref(): unknown;
  unref(): unknown;
  refresh(): unknown;
  close(): unknown;
}

/** The face that carries the items. */
export interface EnrolledHost {
  set(callback: (item: Item) => void, delay: number, item: Item): FaceTimeout;
  /** Whether items that become active are carried here, and not by Node. */
  isOn(): boolean;
  /** Whether an item is a timeout of the face itself. */
  owns(item: unknown): item is FaceTimeout;
}

/** The timeout that fires an item, and what it was set with. */
interface Carrier {
  readonly timeout: FaceTimeout;
  readonly delay: number;
  isRef: boolean;
}

const carriers = new WeakMap<object, Carrier>();
const { now } = performance;
const milliseconds = (): number => Math.trunc(now.call(performance));

/** Node's own functions of these names, where this Node has them. */
const nodes = native.timers as unknown as Partial<EnrolledTimers>;

/**
 * The functions of those names that this Node has, on timeouts of a face: else none. After lib/timers.js, v20. Each calls
 * Node's own as well, with an item that it does nothing to: so Node refuses what it refuses, and warns of the deprecation.
 * An item waits here when it is linked to itself; one that Node has in a list of its own is Node's affair.
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

/** clearTimeout of an item that waits here; false where it does not. */
export function clearEnrolled(item: unknown): boolean {
  if (typeof item !== 'object' || item === null || !carriers.has(item)) return false;
  (item as Item)._onTimeout = null;
  release(item);
  return true;
}

/** Whether Node is to deal with an item: it is in one of Node's lists, or nothing at all, which Node refuses. */
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

/** From here on the item waits, for `delay` ms. */
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
  if (isNodes(item)) return; // somebody has given it to Node meanwhile
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

/** From here on the item waits no longer. */
function release(item: Item): void {
  if (item._destroyed) return;
  item._destroyed = true;
  carriers.get(item)?.timeout.close();
  carriers.delete(item);
  link(item, null);
  item._idleTimeout = -1;
}
