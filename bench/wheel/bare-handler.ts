import type { FireSink, WheelSubject } from './wheel-subject.ts';

/**
 * What no wheel goes below that is given a handler made anew for each step, as most programs write it: the handler is made,
 * and handed over to a call that may keep it. Frozen, as the yardsticks are.
 */
export class BareHandler implements WheelSubject {
  declare private readonly sink: FireSink;
  /** Without a possible caller, a compiler would leave the handler out. */
  kept: ((timer: number) => void) | undefined = undefined;

  constructor(sink: FireSink) {
    this.sink = sink;
  }

  schedule(): void {}

  cancel(): void {}

  advanceTo(): void {
    this.keep((timer) => this.sink.fired(timer));
  }

  private keep(handler: (timer: number) => void): void {
    this.kept = handler;
  }
}
