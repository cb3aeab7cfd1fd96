import FlatQueue from 'flatqueue';

/**
 * Simulated time, in ms: what is to happen, by when. Events of one time happen in the order in which they were entered.
 */
export class EventQueue {
  now = 0;
  readonly #queue = new FlatQueue<() => void>();

  at(time: number, event: () => void): void {
    this.#queue.push(event, Math.max(time, this.now));
  }

  /** Everything that happens until then. */
  runUntil(end: number): void {
    for (let time = this.#queue.peekValue(); time !== undefined && time <= end; time = this.#queue.peekValue()) {
      const event = this.#queue.pop()!;
      this.now = time;
      event();
    }
    this.now = end;
  }
}
