import type { TimerKind } from '../timer-kind.ts';
import type { LiveTimers, Subject } from './subject.ts';

/**
 * No timers at all: what remains is the cost of the driver. It does keep a number per handle, as a proxy keeps whatever
 * it is given for a timer: finding that place again is not the timers' cost. Its caller ends the waits that a timer
 * would end.
 */
export class NoTimers implements Subject {
  readonly ready = Promise.resolve();
  readonly #kept: Float64Array;

  constructor(handles: number) {
    this.#kept = new Float64Array(handles);
  }

  beginSlice(): void {}

  arm(_kind: TimerKind, handle: number, _hint: number, _delay: number, timer: number): void {
    this.#kept[handle] = timer + 1;
  }

  move(handle: number): boolean {
    return this.#kept[handle]! > 0;
  }

  cancel(handle: number): boolean {
    const wasLive = this.#kept[handle]! > 0;
    this.#kept[handle] = 0;
    return wasLive;
  }

  forget(handle: number): void {
    this.#kept[handle] = 0;
  }

  async stats(): Promise<unknown> {
    return undefined;
  }

  async close(handBack: (timer: number) => void, live: LiveTimers): Promise<void> {
    live((_handle, timer) => handBack(timer));
  }
}
