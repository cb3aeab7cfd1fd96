import { Duplex } from 'node:stream';

/**
 * A connection without a socket: what a client sends is handed to the server at once, what the server answers is given
 * to the client.
 */
export class Wire extends Duplex {
  /** Called with each chunk that the server writes. */
  declare onAnswer: (chunk: Buffer) => void;

  constructor() {
    super({ highWaterMark: 16_384 });
    this.onAnswer = ignored;
  }

  send(chunk: Buffer): void {
    this.push(chunk);
  }

  override _read(): void {
    // What comes is pushed when it comes.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.onAnswer(chunk);
    done();
  }

  // What servers ask of a socket.
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }
}

const ignored = (): void => undefined;
