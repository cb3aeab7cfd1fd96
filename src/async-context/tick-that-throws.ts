import { nextTick } from '../unfaked.ts';

/**
 * An error to come, which is thrown before the ticks that are queued from now on. A tick is queued for it at once:
 * nothing can be put before queued ones later.
 */
export class TickThatThrows {
  private hasThrown = false;
  private error: unknown;

  constructor() {
    nextTick(throwOf, this);
  }

  /** Precondition: its tick has not run. */
  throw(error: unknown): void {
    this.hasThrown = true;
    this.error = error;
  }

  /** Its tick. @internal */
  run(): void {
    if (this.hasThrown) throw this.error;
  }
}

const throwOf = (tick: TickThatThrows): void => tick.run();
