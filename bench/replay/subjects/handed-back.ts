import type { LiveTimers } from './subject.ts';

/** What timers by handles have in common where the subject counts nothing, and hands back what it cancels. */
export abstract class HandedBack {
  abstract cancel(handle: number): boolean;

  async stats(): Promise<unknown> {
    return undefined;
  }

  async close(handBack: (timer: number) => void, live: LiveTimers): Promise<void> {
    live((handle, timer) => {
      this.cancel(handle);
      handBack(timer);
    });
  }
}
