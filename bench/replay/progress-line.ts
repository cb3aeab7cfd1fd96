import type { WriteStream } from 'node:tty';
import { count, milliseconds } from './format.ts';
import type { Progress } from './replay-result.ts';

/**
 * The line that shows that something is happening: rewritten in place on a terminal, otherwise a new line now and then.
 * Repeats itself when nothing new has come in, with the time that has passed, so that it is never silent for long.
 */
export class ProgressLine {
  readonly #stream: WriteStream;
  readonly #asked: number;
  readonly #timer: NodeJS.Timeout;
  #title = '';
  #since = 0;
  #progress: Progress | undefined;

  constructor(stream: WriteStream, asked: number) {
    this.#stream = stream;
    this.#asked = asked;
    this.#timer = setInterval(() => this.#print(), stream.isTTY ? 250 : 1500);
  }

  /** A new stage of the run: finishes the line and starts another. */
  begin(title: string): void {
    this.#finish();
    this.#title = title;
    this.#progress = undefined;
    this.#since = performance.now();
    this.#print();
  }

  update(progress: Progress): void {
    this.#progress = progress;
  }

  end(): void {
    clearInterval(this.#timer);
    this.#finish();
    this.#title = '';
  }

  #finish(): void {
    if (this.#title === '') return;
    if (this.#stream.isTTY) {
      this.#print();
      this.#stream.write('\n');
    }
  }

  #print(): void {
    if (this.#title === '') return;
    const line = `${this.#title.padEnd(23)} ${this.#describe()}`;
    if (this.#stream.isTTY) this.#stream.write(`\r\x1b[K${line.slice(0, this.#stream.columns - 1)}`);
    else this.#stream.write(`${line}\n`);
  }

  #describe(): string {
    const progress = this.#progress;
    if (progress === undefined || progress.phase === 'starting') {
      return `starting, ${((performance.now() - this.#since) / 1000).toFixed(1)} s`;
    }
    const { phase, elapsed, rate, live, fired, lateness } = progress;
    const shown = phase === 'arrivals' ? `${count(rate)} of ${count(this.#asked)} conn/s` : phase;
    const { p50, p99, max } = lateness;
    const late =
      fired > 0 ? ` │ late p50 ${milliseconds(p50)} p99 ${milliseconds(p99)} max ${milliseconds(max)} ms` : '';
    return `${elapsed.toFixed(1).padStart(5)} s │ ${shown} │ ${count(live)} live │ ${count(fired)} fired${late}`;
  }
}
