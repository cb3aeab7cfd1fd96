/**
 * Starts one thread after the other. Each start costs the event loop some ms, and the processors some 50; all at once they
 * would block it for as many times as long.
 */
export class StartQueue {
  private last: Promise<unknown> = Promise.resolve();

  /** Runs the task when those before it have ended, one way or the other. */
  enter<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.last.then(task, task);
    this.last = turn.catch(() => undefined); // its own caller is told
    return turn;
  }
}
