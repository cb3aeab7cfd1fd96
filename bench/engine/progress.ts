import type { WriteStream } from 'node:tty';

/**
 * Says what is being measured: on a terminal one line that is rewritten, else a line for each measurement that takes
 * long.
 */
export class Progress {
  private readonly stream: WriteStream;
  private readonly start = performance.now();
  private readonly timer: NodeJS.Timeout;
  private line = '';
  private since = 0;
  private shown = '';
  private shownAt = 0;

  constructor(stream: WriteStream) {
    this.stream = stream;
    this.timer = setInterval(() => this.print(), stream.isTTY ? 250 : 1500);
  }

  update(what: string, done: number, all: number): void {
    this.line = `${done + 1}/${all} ${what}`;
    this.since = performance.now();
  }

  /** Makes room for output. */
  clear(): void {
    this.line = '';
    if (this.stream.isTTY) this.stream.write('\r\x1b[K');
  }

  end(): void {
    clearInterval(this.timer);
    this.clear();
  }

  private print(): void {
    if (this.line === '') return;
    const now = performance.now();
    const total = `${((now - this.start) / 1000).toFixed(0)} s`.padStart(6);
    const text = `${total} │ ${this.line}, ${((now - this.since) / 1000).toFixed(0)} s`;
    if (this.stream.isTTY) this.stream.write(`\r\x1b[K${text.slice(0, this.stream.columns - 1)}`);
    // One line per measurement; a long one is heard of every ten seconds.
    else if (this.shown !== this.line || now - this.shownAt > 10_000) {
      this.stream.write(`${text}\n`);
      this.shown = this.line;
      this.shownAt = now;
    }
  }
}
