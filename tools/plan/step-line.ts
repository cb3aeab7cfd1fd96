import type { WriteStream } from 'node:tty';

/** ms between two lines where they are not written over each other. */
const period = 1500;

/** Says which step of several a command is at: in one line on a terminal, otherwise a new line now and then. */
export class StepLine {
  readonly #stream: WriteStream;
  #last = 0;

  constructor(stream: WriteStream) {
    this.#stream = stream;
  }

  show(text: string): void {
    if (this.#stream.isTTY) this.#stream.write(`\r\x1b[K${text}`);
    else if (performance.now() - this.#last > period) {
      this.#last = performance.now();
      this.#stream.write(`${text}\n`);
    }
  }

  end(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\x1b[K');
  }
}
