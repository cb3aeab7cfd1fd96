import type { LiveTimers, Subject } from './subject.ts';

/** No timers at all: what remains is the cost of the driver. The replay itself ends the waits that a timer would end. */
export class NoTimers implements Subject {
  readonly ready = Promise.resolve();

  arm(): void {}

  move(): boolean {
    return true;
  }

  cancel(): boolean {
    return true;
  }

  forget(): void {}

  async stats(): Promise<unknown> {
    return undefined;
  }

  async close(handBack: (timer: number) => void, live: LiveTimers): Promise<void> {
    live((_handle, timer) => handBack(timer));
  }
}
