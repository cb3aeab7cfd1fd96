import { like } from '../../time/native-timers.ts';
import { clock } from './call-times.ts';
import { adopt, type NodeTimeout } from './node-lists.ts';
import type { Kind, Recorder } from './recorder.ts';

type Call = (...given: never[]) => unknown;
type Create = (callback: unknown, delay: unknown) => NodeTimeout;
type Clear = (handle: unknown) => void;
type Refresh = (this: NodeTimeout) => unknown;

// A sampled call is timed in the same function as all others: in a separate function, Node's code would be another
// copy, which is in no cache of the processor, and takes several times as long.

/** Timers that the program has converted to numbers: it may clear them by these. */
export class Numbers {
  private readonly timers = new Map<string, NodeTimeout>();
  private most = 1000;

  isEmpty = true;

  add(number: unknown, timer: NodeTimeout): void {
    this.isEmpty = false;
    this.timers.set(String(number), timer);
    if (this.timers.size <= this.most) return;
    for (const [each, { _destroyed }] of this.timers) if (_destroyed) this.timers.delete(each);
    this.most = Math.max(this.most, this.timers.size * 2);
  }

  /** The timer that Node would clear by this number. */
  find(number: unknown): NodeTimeout | undefined {
    const timer = this.timers.get(String(number));
    return timer?._destroyed ? undefined : timer;
  }
}

/** Adopts the list of a timer if Node created that list before it was watched. */
function adoptListOf(timer: NodeTimeout): void {
  if (timer._idlePrev) adopt(timer._idlePrev);
}

/** setTimeout and setInterval: Node's work, counted. */
export function creating(recorder: Recorder, nodes: Call, kind: Kind): Call {
  const { watch, creations, times } = recorder;
  const call = nodes as Create;
  const own = function (this: unknown, callback: unknown, delay: unknown): NodeTimeout {
    creations.left -= 1;
    const isSampled = creations.left <= 0;
    const before = isSampled ? clock() : 0;
    const begun = isSampled ? clock() : 0;
    watch.isOwn = true;
    let timer: NodeTimeout;
    try {
      // biome-ignore lint/complexity/noArguments: with only two arguments no object and no array is created
      timer = arguments.length > 2 ? Reflect.apply(call, this, arguments) : call(callback, delay);
    } finally {
      watch.isOwn = false;
    }
    if (isSampled) times.create.add(before, begun, clock());
    if (watch.inserted !== timer) adoptListOf(timer);
    watch.inserted = undefined;
    recorder.created(timer, kind);
    if (isSampled) recorder.sampled(timer, own, creations.take());
    return timer;
  };
  return like(nodes, own);
}

/** clearTimeout, clearInterval: they read their argument before Node clears it. */
export function clearing(recorder: Recorder, nodes: Call, numbers: Numbers): Call {
  const { clears, times } = recorder;
  const clear = nodes as Clear;
  const own = (handle: unknown): void => {
    if (typeof handle === 'object' && handle !== null) recorder.clearing(handle as NodeTimeout);
    else if (!numbers.isEmpty && handle !== undefined) {
      const timer = numbers.find(handle);
      if (timer !== undefined) recorder.clearing(timer);
    }
    clears.left -= 1;
    const isSampled = clears.left <= 0;
    const before = isSampled ? clock() : 0;
    const begun = isSampled ? clock() : 0;
    clear(handle);
    if (!isSampled) return;
    times.clear.add(before, begun, clock());
    clears.take();
  };
  return like(nodes, own);
}

/** Timeout.prototype.close and Symbol.dispose, by which Node's own clearTimeout is called. */
export function closing(recorder: Recorder, nodes: Call): Call {
  return like(nodes, function (this: NodeTimeout, ...given: never[]): unknown {
    recorder.clearing(this);
    return Reflect.apply(nodes, this, given);
  });
}

/** Timeout.prototype.refresh: of the program's timers, and of Node's own. */
export function refreshing(recorder: Recorder, nodes: Call): Call {
  const { watch, refreshes, times } = recorder;
  const refresh = nodes as Refresh;
  return like(nodes, function (this: NodeTimeout): unknown {
    refreshes.left -= 1;
    const isSampled = refreshes.left <= 0;
    const wasLive = recorder.isLive(this);
    const wasDue = watch.isCandidate(this);
    watch.isOwn = true;
    watch.inserted = undefined;
    const before = isSampled ? clock() : 0;
    const begun = isSampled ? clock() : 0;
    try {
      refresh.call(this);
    } finally {
      watch.isOwn = false;
    }
    if (isSampled) {
      times.refresh.add(before, begun, clock());
      refreshes.take();
    }
    if (watch.inserted !== this) {
      // Node refreshes no timer that was cleared, or that a program has given no delay.
      if (!this._idleNext || !(this._idleTimeout >= 0)) return this;
      adoptListOf(this);
    }
    watch.inserted = undefined;
    recorder.refreshed(this, wasLive);
    if (wasDue) watch.expectCall(this);
    return this;
  });
}

/** timers/promises: Node hides the timer, but it is seen when it is put into its list. */
export function sleeping(recorder: Recorder, nodes: Call, canEnd: (given: IArguments) => boolean): Call {
  const { watch, creations } = recorder;
  const own = function (this: unknown): unknown {
    watch.isOwn = true;
    watch.inserted = undefined;
    try {
      // biome-ignore lint/complexity/noArguments: passed on as they are
      return Reflect.apply(nodes, this, arguments as unknown as never[]);
    } finally {
      watch.isOwn = false;
      const timer = watch.inserted as NodeTimeout | undefined;
      watch.inserted = undefined;
      if (timer !== undefined) {
        recorder.created(timer, 'promises');
        // biome-ignore lint/complexity/noArguments: as above
        if (canEnd(arguments)) watch.onClear(timer, () => recorder.clearing(timer));
        creations.left -= 1;
        if (creations.left <= 0) recorder.sampled(timer, own, creations.take());
      }
    }
  };
  return like(nodes, own);
}
