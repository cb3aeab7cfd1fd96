import { HandedBack } from '../../replay/subjects/handed-back.ts';
import type { OnFire, Subject } from '../../replay/subjects/subject.ts';
import { CONNECT, IDLE, REQUEST, TIME_WAIT, type TimerKind } from '../../replay/timer-kind.ts';
import type { Face } from '../faces/face.ts';

type TimeoutFunctions = Pick<Face, 'setTimeout' | 'clearTimeout'>;

/**
 * Timers by the functions of Node's face, whosoever they are: one callback per kind, the timer's number as its
 * argument.
 */
export class FaceTimers extends HandedBack implements Subject {
  readonly ready = Promise.resolve();
  readonly #setTimeout: TimeoutFunctions['setTimeout'];
  readonly #clearTimeout: TimeoutFunctions['clearTimeout'];
  readonly #callbacks: ((timer: number) => void)[];
  readonly #timeouts: (NodeJS.Timeout | undefined)[];

  constructor({ setTimeout, clearTimeout }: TimeoutFunctions, handles: number, onFire: OnFire) {
    super();
    this.#setTimeout = setTimeout;
    this.#clearTimeout = clearTimeout;
    this.#callbacks = ([CONNECT, IDLE, REQUEST, TIME_WAIT] as const).map((kind) => (timer) => onFire(kind, timer));
    this.#timeouts = new Array<NodeJS.Timeout | undefined>(handles).fill(undefined);
  }

  beginSlice(): void {}

  arm(kind: TimerKind, handle: number, _hint: number, delay: number, timer: number): void {
    const set = this.#setTimeout;
    this.#timeouts[handle] = set(this.#callbacks[kind], delay, timer);
  }

  move(handle: number): boolean {
    const timeout = this.#timeouts[handle];
    if (timeout === undefined) return false;
    timeout.refresh();
    return true;
  }

  cancel(handle: number): boolean {
    const timeout = this.#timeouts[handle];
    if (timeout === undefined) return false;
    const clear = this.#clearTimeout;
    clear(timeout);
    this.#timeouts[handle] = undefined;
    return true;
  }

  forget(handle: number): void {
    this.#timeouts[handle] = undefined;
  }
}
