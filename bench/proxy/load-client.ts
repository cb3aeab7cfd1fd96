import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { continuesPattern, encodeRequest, type Request } from './protocol.ts';

const POKE_EVERY = 50;

/** The connection was closed from the other side before its plan was through. */
export class ConnectionCut extends Error {}

/** An answer came back with other bytes than the upstream sent. */
export class GarbledAnswer extends Error {}

/** One connection of the load generator, with the few moves that plans are made of. */
export class LoadClient {
  readonly localPort: number;
  readonly #socket: Socket;
  #answered = 0;
  #ended = false;
  #closed = false;
  #garbled = false;
  #waiting: { condition: () => boolean; resolve: () => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.localPort = socket.localPort ?? 0;
    socket.on('data', (chunk) => {
      if (!continuesPattern(chunk, this.#answered)) this.#garbled = true;
      this.#answered += chunk.length;
      this.#notice();
    });
    socket.once('end', () => {
      this.#ended = true;
      this.#notice();
    });
    socket.once('close', () => {
      this.#closed = true;
      this.#notice();
    });
  }

  static async connect(port: number): Promise<LoadClient> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    await once(socket, 'connect');
    socket.on('error', () => {}); // being cut is a result here; 'close' follows
    return new LoadClient(socket);
  }

  send(request: Partial<Request>): void {
    this.#answered = 0;
    this.#socket.write(encodeRequest({ verb: 'answer', answerBytes: 512, delay: 0, bodyBytes: 0, ...request }));
  }

  /** Resolves once so many bytes of the answer to the last request are there, all as they should be. */
  async receive(bytes: number): Promise<void> {
    await this.#until(() => this.#answered >= bytes || this.#garbled || this.#ended);
    if (this.#ended && this.#answered < bytes && !this.#garbled) throw new ConnectionCut();
    if (this.#garbled || this.#answered !== bytes) throw new GarbledAnswer();
  }

  /** A byte of a request whose line does not end. */
  dribble(): void {
    this.#socket.write('a');
  }

  async ask(request: Partial<Request> & { answerBytes: number }): Promise<void> {
    this.send(request);
    await this.receive(request.answerBytes);
  }

  /** Reads nothing for so long, as a client that is slow to take its answer. */
  async holdReading(ms: number): Promise<void> {
    this.#socket.pause();
    await sleep(ms);
    this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
  }

  untilPeerEnds(): Promise<void> {
    return this.#until(() => this.#ended);
  }

  /**
   * Never resolves while the connection lives; rejects with ConnectionCut when it is closed. A proxy cuts by a reset; the
   * kernel, which closes the sockets of a thread that was killed, often by a FIN.
   */
  async untilCut(): Promise<never> {
    await this.#until(() => this.#ended);
    return this.pokeUntilCut();
  }

  /** The same for a socket that has read the peer's FIN, which learns of a reset only by writing. */
  async pokeUntilCut(): Promise<never> {
    while (!this.#closed) {
      this.send({ verb: 'hush' });
      await sleep(POKE_EVERY);
    }
    throw new ConnectionCut();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    if (this.#closed) return Promise.reject(new ConnectionCut());
    return new Promise((resolve, reject) => {
      this.#waiting = { condition, resolve, reject };
    });
  }

  #notice(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const met = waiting.condition();
    if (!met && !this.#closed) return;
    this.#waiting = undefined;
    if (met) waiting.resolve();
    else waiting.reject(new ConnectionCut());
  }
}
