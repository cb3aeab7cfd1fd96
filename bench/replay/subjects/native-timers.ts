import { CONNECT, IDLE, REQUEST, TIME_WAIT, type TimerKind } from '../timer-kind.ts';
import { HandedBack } from './handed-back.ts';
import type { OnFire, Subject } from './subject.ts';

const chunkBits = 16;
const chunkMask = (1 << chunkBits) - 1;

/**
 * Node's own timers, used as its documentation recommends: one callback per kind with the timer's number as argument,
 * `refresh()` to move, no closure. Node keeps one list per duration, so equal timeouts are its best case.
 * Timeouts are kept in chunks, so that neither a growing array nor an empty one counts against them.
 */
export class NativeTimers extends HandedBack implements Subject {
  readonly ready = Promise.resolve();
  readonly #callbacks: ((timer: number) => void)[];
  readonly #chunks: (NodeJS.Timeout | undefined)[][] = [];

  constructor(onFire: OnFire) {
    super();
    this.#callbacks = ([CONNECT, IDLE, REQUEST, TIME_WAIT] as const).map((kind) => (timer) => onFire(kind, timer));
  }

  beginSlice(): void {}

  arm(kind: TimerKind, handle: number, _hint: number, delay: number, timer: number): void {
    const timeout = setTimeout(this.#callbacks[kind]!, delay, timer);
    const chunk = this.#chunks[handle >>> chunkBits] ?? this.#addChunk(handle >>> chunkBits);
    chunk[handle & chunkMask] = timeout;
  }

  move(handle: number): boolean {
    const timeout = this.#chunks[handle >>> chunkBits]![handle & chunkMask];
    if (timeout === undefined) return false;
    timeout.refresh();
    return true;
  }

  cancel(handle: number): boolean {
    const chunk = this.#chunks[handle >>> chunkBits]!;
    const timeout = chunk[handle & chunkMask];
    if (timeout === undefined) return false;
    clearTimeout(timeout);
    chunk[handle & chunkMask] = undefined;
    return true;
  }

  forget(handle: number): void {
    this.#chunks[handle >>> chunkBits]![handle & chunkMask] = undefined;
  }

  #addChunk(index: number): (NodeJS.Timeout | undefined)[] {
    const chunk = new Array<NodeJS.Timeout | undefined>(chunkMask + 1).fill(undefined);
    this.#chunks[index] = chunk;
    return chunk;
  }
}
