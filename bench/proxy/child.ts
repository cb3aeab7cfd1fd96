import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of this run, which answers with messages. It ends when disconnected, and with its parent. */
export class Child {
  readonly #process: ChildProcess;
  readonly #messages: AsyncIterator<unknown[]>;
  readonly #exited: Promise<void>;
  readonly #failed: Promise<never>;

  constructor(name: 'upstream' | 'load' | 'share') {
    this.#process = fork(fileURLToPath(new URL(`./${name}-process.js`, import.meta.url)));
    this.#messages = on(this.#process, 'message')[Symbol.asyncIterator]();
    this.#exited = once(this.#process, 'exit').then(() => {});
    this.#failed = this.#exited.then(() => {
      throw new Error(`the ${name} process ended early, with ${this.#process.signalCode ?? this.#process.exitCode}`);
    });
    this.#failed.catch(() => {}); // told to whoever waits for an answer
  }

  /** The next message from the child, in order; rejects if it ends without one. */
  async answer<T>(): Promise<T> {
    const { value } = await Promise.race([this.#messages.next(), this.#failed]);
    return value[0] as T;
  }

  send(message: object): void {
    this.#process.send(message);
  }

  async close(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    await this.#exited;
  }
}
