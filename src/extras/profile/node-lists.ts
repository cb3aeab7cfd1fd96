import { process } from '../../process.ts';
import { clock } from './call-times.ts';

/**
 * Observes what Node does with its timers, by the lists in which it keeps them: one for each delay. Users never see
 * more of a list than a name. No callback is wrapped, no timer is changed, and nothing is stored per timer.
 *
 *     TimersList          Timeout (oldest)       Timeout (newest)
 *     _idlePrev ────────▶ _idlePrev ───────────▶ _idlePrev ──▶ the list      `_idleNext` runs the other way
 *
 * The class TimersList gets accessors for these two fields. `L.peek` reads `_idlePrev` before each call of a callback,
 * and `L.remove` overwrites it when the timer leaves to be called. So a timer fires if it was peeked at and is then
 * removed with its callback in place, outside our calls. `L.append` writes `_idleNext` whenever a timer is added.
 *
 * Timers of Node's own parts are seen as well. One that is added outside our functions is marked: its `_timerArgs`,
 * undefined, becomes an empty list, with which Node calls the callback in the same way.
 *
 * Follows lib/internal/timers.js and lib/internal/linkedlist.js, the same from Node 20 to 26; `watchLists` tries it out
 * first.
 */
export interface NodeTimeout extends Omit<NodeJS.Timeout, '_onTimeout'> {
  _idlePrev: Linked;
  _idleNext: Linked;
  /** In whole ms of Node's clock: when it was put into its list. */
  _idleStart: number;
  /** In ms; -1 once it was cleared. */
  _idleTimeout: number;
  _repeat: number | null;
  _onTimeout: unknown;
  _timerArgs: unknown[] | undefined;
  _destroyed: boolean;
}

/** Name of Node's class of lists. */
const LISTS = 'TimersList';

const oldest = Symbol('oldest');
const newest = Symbol('newest');
const INTERNAL: unknown[] = [];
/** Timers of Node's own parts that have arguments. */
const internals = new WeakSet<object>();

/**
 * Null: in a list that Node has removed like a timer. It finds the list among its own timers if the last one was
 * cleared behind a proxy, which puts a proxy of the list in its place.
 */
type Linked = NodeTimeout | TimersList | null;

interface TimersList {
  _idlePrev: Linked;
  _idleNext: Linked;
  [oldest]: Linked;
  [newest]: Linked;
}

/** Every call comes from within Node's own work on its lists: the observer must neither throw nor touch a timer. */
export interface ListObserver {
  /** A callback may have ended; another may begin. */
  passing(): void;
  fired(timer: NodeTimeout, isInternal: boolean): void;
  /** A timer of Node's own parts was added. */
  internalCreated(): void;
}

export class ListWatch {
  /** True while one of our functions calls Node's, which puts the program's timer into a list. */
  isOwn = false;
  /** The timer that was last added while `isOwn`. */
  inserted: NodeTimeout | undefined;
  /** The timer whose callback runs, or ran last in this list. */
  firing: NodeTimeout | undefined;
  isOn = true;
  /** The object that Node last peeked at. */
  private candidate: unknown;
  private isSecondRead = false;
  private readonly observer: ListObserver;

  constructor(observer: ListObserver) {
    this.observer = observer;
  }

  /** Whether Node is about to call it, or has found that it is not yet due. */
  isCandidate(timer: NodeTimeout): boolean {
    return this.candidate === timer;
  }

  /**
   * A microtask or tick between two callbacks has refreshed the next timer: Node still calls it, from another place of
   * the list. A read of its callback shows whether it does.
   */
  expectCall(timer: NodeTimeout): void {
    const callback = timer._onTimeout;
    const called = (): void => {
      untrap(timer, callback);
      if (timer._idleNext) return; // read, but not to be called
      this.firing = timer;
      if (this.isOn) this.observer.fired(timer, isInternal(timer));
    };
    trap(timer, called, (value) => untrap(timer, value));
  }

  /** Calls `cleared` before Node clears a timer that only Node knows. */
  onClear(timer: NodeTimeout, cleared: () => void): void {
    trap(
      timer,
      () => undefined,
      (value) => {
        if (value === null) cleared();
        untrap(timer, value);
      },
    );
  }

  /** `_idlePrev` is read: twice for a timer, once for an empty list. */
  peeked(list: TimersList): Linked {
    const head = list[oldest];
    if (this.isSecondRead && this.candidate === head) {
      this.isSecondRead = false;
      return head;
    }
    const isEmpty = head === list || head === null;
    this.isSecondRead = !isEmpty;
    this.candidate = isEmpty ? undefined : head;
    this.firing = undefined;
    if (this.isOn) this.observer.passing();
    return head;
  }

  /** `_idlePrev` is written: the oldest timer has changed. */
  oldestChanged(list: TimersList, to: Linked): void {
    const from = list[oldest];
    list[oldest] = to;
    if (this.candidate === undefined || from !== this.candidate) return;
    const timer = from as NodeTimeout;
    this.candidate = undefined;
    if (this.isOwn || !timer._onTimeout) return; // refreshed, cleared
    this.firing = timer;
    if (this.isOn) this.observer.fired(timer, isInternal(timer));
  }

  /** `_idleNext` is written: the newest timer has changed, since one was added or removed. */
  newestChanged(list: TimersList, to: Linked): void {
    const before = list[newest];
    list[newest] = to;
    if (to === null || to === list || to._idleNext !== before) return;
    const timer = to as NodeTimeout;
    if (this.isOwn) {
      this.inserted = timer;
      return;
    }
    if (timer === this.firing || isInternal(timer)) return;
    if (timer._timerArgs === undefined) timer._timerArgs = INTERNAL;
    else internals.add(timer);
    if (this.isOn) this.observer.internalCreated();
  }
}

/** Wires `_onTimeout` of one timer, which is new or due at once, to our functions. */
function trap(timer: NodeTimeout, read: () => void, write: (value: unknown) => void): void {
  let value = timer._onTimeout;
  Object.defineProperty(timer, '_onTimeout', {
    configurable: true,
    enumerable: true,
    get: () => {
      read();
      return value;
    },
    set: (to: unknown) => {
      write(to);
      value = to;
    },
  });
}

function untrap(timer: NodeTimeout, value: unknown): void {
  Object.defineProperty(timer, '_onTimeout', { configurable: true, enumerable: true, writable: true, value });
}

export const isInternal = (timer: NodeTimeout): boolean => {
  const given = timer._timerArgs;
  return given !== undefined && (given === INTERNAL || internals.has(timer));
};

/** Makes a list use the accessors if Node created it before its class had them. */
export function adopt(list: object): void {
  const fields = list as TimersList;
  // A timer that is not the newest of its list has another timer there.
  if (fields.constructor.name !== LISTS || !Object.hasOwn(fields, '_idlePrev')) return;
  const { _idlePrev, _idleNext } = fields;
  Reflect.deleteProperty(fields, '_idlePrev');
  Reflect.deleteProperty(fields, '_idleNext');
  fields[oldest] = _idlePrev;
  fields[newest] = _idleNext;
}

/**
 * Gives Node's class of lists the accessors. `probe` has just been set. False if this Node keeps timers in another way.
 */
export function watchLists(watch: ListWatch, probe: NodeTimeout): boolean {
  const list = probe._idlePrev as TimersList | null | undefined;
  if (!list || list._idleNext !== probe || list.constructor.name !== LISTS) return false;
  const accessors = {
    _idlePrev: {
      get(this: TimersList) {
        return watch.peeked(this);
      },
      set(this: TimersList, to: NodeTimeout) {
        watch.oldestChanged(this, to);
      },
    },
    _idleNext: {
      get(this: TimersList) {
        return this[newest];
      },
      set(this: TimersList, to: NodeTimeout) {
        watch.newestChanged(this, to);
      },
    },
  };
  Object.defineProperties(Object.getPrototypeOf(list), accessors);
  adopt(list);
  return true;
}

const TRIES = 5;

const monotonic = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
};

/**
 * Returns what to add to a timer's `_idleStart`, in whole ms of Node's own clock, for the beginning of that ms by
 * `clock`. Both read the machine's monotonic clock; Node drops fractions of a ms. `stamp` returns a timer with the
 * clock's present ms.
 */
export function nodeClockOffset(stamp: () => NodeTimeout): number {
  let behind = Number.POSITIVE_INFINITY;
  let difference = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < TRIES; tried++) {
    behind = Math.min(behind, Math.floor(monotonic()) - stamp()._idleStart);
    const read = clock();
    difference = Math.min(difference, monotonic() - read);
  }
  return behind - difference;
}
