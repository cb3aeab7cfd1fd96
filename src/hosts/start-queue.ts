/**
 * Starts one thread after the other. Each start costs the event loop some ms, and the processors some 50; several starts at once
 * would block it for their sum.
 */
export class StartQueue {
  private last: Promise<unknown> = Promise.resolve();

  /** Runs the task when those before it have settled. */
  enter<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.last.then(task, task);
    this.last = turn.catch(() => undefined); // its own caller gets the error
    return turn;
  }
}
