import { createRequire } from 'node:module';
import { HandedBack } from '../replay/subjects/handed-back.ts';
import type { OnFire, Subject } from '../replay/subjects/subject.ts';
import type { TimerKind } from '../replay/timer-kind.ts';

const require = createRequire(import.meta.url);

/** What a package of timers that can be moved is asked for. */
interface Library<H> {
  start(callback: (timer: number) => void, delay: number, timer: number): H;
  move(handle: H, delay: number): void;
  end(handle: H): void;
}

interface RetimerHandle {
  reschedule(delay: number): void;
  clear(): void;
}

/** mcollina's retimer: a move notes the time; the timeout sets itself again when it comes too soon. */
export function retimer(): Library<RetimerHandle> {
  type Retimer = (callback: (timer: number) => void, delay: number, timer: number) => RetimerHandle;
  const start: Retimer = require('retimer'); // here: nobody else loads it
  return { start, move: (handle, delay) => handle.reschedule(delay), end: (handle) => handle.clear() };
}

interface RefreshHandle {
  refresh(): void;
  destroy(): void;
}

/** mafintosh's timeout-refresh: an object around `timeout.refresh()`. */
export function timeoutRefresh(): Library<RefreshHandle> {
  type Once = (delay: number, callback: (this: number) => void, context: number) => RefreshHandle;
  const module: { once: Once } = require('timeout-refresh');
  let fired: (timer: number) => void = () => undefined;
  function onTimeout(this: number): void {
    fired(this);
  }
  return {
    start(callback, delay, timer) {
      fired = callback;
      return module.once(delay, onTimeout, timer);
    },
    move: (handle) => handle.refresh(),
    end: (handle) => handle.destroy(),
  };
}

/** Such a package, with its handles kept by number. Timers are of one kind. */
export class RefreshableTimers<H> extends HandedBack implements Subject {
  readonly ready = Promise.resolve();
  readonly #library: Library<H>;
  readonly #handles: (H | undefined)[];
  readonly #onFire: OnFire;
  #kind: TimerKind | undefined;
  readonly #fired = (timer: number): void => this.#onFire(this.#kind!, timer);

  constructor(library: Library<H>, handles: number, onFire: OnFire) {
    super();
    this.#library = library;
    this.#handles = new Array<H | undefined>(handles).fill(undefined);
    this.#onFire = onFire;
  }

  beginSlice(): void {}

  arm(kind: TimerKind, handle: number, _hint: number, delay: number, timer: number): void {
    this.#kind = kind;
    this.#handles[handle] = this.#library.start(this.#fired, delay, timer);
  }

  move(handle: number, delay: number): boolean {
    const timer = this.#handles[handle];
    if (timer === undefined) return false;
    this.#library.move(timer, delay);
    return true;
  }

  cancel(handle: number): boolean {
    const timer = this.#handles[handle];
    if (timer === undefined) return false;
    this.#library.end(timer);
    this.#handles[handle] = undefined;
    return true;
  }

  forget(handle: number): void {
    this.#handles[handle] = undefined;
  }
}
