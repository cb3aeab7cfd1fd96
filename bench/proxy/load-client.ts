import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { continuesPattern, encodeRequest, type Request } from './protocol.ts';
import { pskClient } from './tls-key.ts';

const POKE_EVERY = 50;

/** When something happened at the proxy, as far as its client can tell: Date.now(). */
export interface Moment {
  earliest: number;
  latest: number;
}

/** The connection was closed from the other side before its plan was through. */
export class ConnectionCut extends Error {}

/** An answer came back with other bytes than the upstream sent. */
export class GarbledAnswer extends Error {}

/** What the limits of a connection go by. */
export interface Moments {
  /** It was accepted. */
  opened: Moment;
  /** The latest byte moved, either way. */
  moved: Moment;
  /** ms: the longest from a byte that moved to the next. */
  longestPause?: number;
  /** The first byte that the client has sent. */
  firstSent?: number | undefined;
  /** The TLS session was there. */
  secured?: Moment | undefined;
  /** A direction had ended, the first of both. */
  firstFin?: Moment | undefined;
  /** When the other side's FIN was read, and when the socket was closed. */
  endedAt?: number | undefined;
  closedAt?: number | undefined;
}

/** One connection of the load generator, with the few moves that plans are made of. */
export class LoadClient {
  readonly localPort: number;
  readonly #moments: Moments;
  #socket: Socket;
  #isReading = true;
  #answered = 0;
  #ended = false;
  #closed = false;
  #garbled = false;
  #waiting: { condition: () => boolean; resolve: () => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket, openedFrom: number) {
    this.#socket = socket;
    this.localPort = socket.localPort ?? 0;
    const opened = { earliest: openedFrom, latest: Date.now() };
    this.#moments = { opened, moved: opened };
    this.#listen();
  }

  static async connect(port: number): Promise<LoadClient> {
    const from = Date.now();
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    await once(socket, 'connect');
    return new LoadClient(socket, from);
  }

  moments(): Moments {
    return this.#moments;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Makes a TLS session of it. */
  async secure(): Promise<void> {
    if (this.#ended || this.#closed) throw new ConnectionCut();
    const carrier = this.#socket;
    for (const event of ['data', 'end', 'close']) carrier.removeAllListeners(event);
    const earliest = Date.now();
    this.#socket = connectTls({ ...pskClient, socket: carrier });
    this.#listen();
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('secureConnect', resolve);
      this.#socket.once('close', () => reject(new ConnectionCut()));
    });
    this.#moments.secured = { earliest, latest: Date.now() };
  }

  send(request: Partial<Request>): void {
    this.#answered = 0;
    this.write(encodeRequest({ verb: 'answer', answerBytes: 512, delay: 0, bodyBytes: 0, ...request }));
  }

  write(bytes: Buffer): void {
    this.#noteMove(Date.now());
    this.#moments.firstSent ??= Date.now();
    this.#socket.write(bytes);
  }

  /** Resolves once so many bytes of the answer to the last request are there, all as they should be. */
  async receive(bytes: number): Promise<void> {
    await this.#until(() => this.#answered >= bytes || this.#garbled || this.#ended);
    if (this.#ended && this.#answered < bytes && !this.#garbled) throw new ConnectionCut();
    if (this.#garbled || this.#answered !== bytes) throw new GarbledAnswer();
  }

  /** A byte of a request whose line does not end. */
  dribble(): void {
    this.write(Buffer.from('a'));
  }

  async ask(request: Partial<Request> & { answerBytes: number }): Promise<void> {
    this.send(request);
    await this.receive(request.answerBytes);
  }

  /** Reads nothing for so long, as a client that is slow to take its answer. What it reads later has moved before. */
  async holdReading(ms: number): Promise<void> {
    this.#isReading = false;
    this.#socket.pause();
    await sleep(ms);
    this.#socket.resume();
  }

  end(): void {
    this.#moments.firstFin ??= { earliest: Date.now(), latest: Date.now() };
    this.#socket.end();
  }

  untilPeerEnds(): Promise<void> {
    return this.#until(() => this.#ended);
  }

  /**
   * Never resolves while the connection lives; rejects with ConnectionCut when it is closed. A proxy cuts by a reset;
   * the kernel, which closes the sockets of a thread that was killed, often by a FIN.
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

  #listen(): void {
    const socket = this.#socket;
    socket.on('error', () => {}); // being cut is a result here; 'close' follows
    socket.on('data', (chunk) => {
      if (this.#isReading) this.#noteMove(this.#moments.moved.earliest);
      if (!continuesPattern(chunk, this.#answered)) this.#garbled = true;
      this.#answered += chunk.length;
      this.#notice();
    });
    socket.once('end', () => {
      this.#ended = true;
      this.#moments.firstFin ??= { earliest: this.#moments.moved.earliest, latest: Date.now() };
      this.#moments.endedAt = Date.now();
      this.#notice();
    });
    socket.once('close', () => {
      this.#closed = true;
      this.#moments.closedAt = Date.now();
      this.#notice();
    });
  }

  /** What moves after the end is none of the connection's. */
  #noteMove(earliest: number): void {
    if (this.#ended || this.#closed) return;
    const { moved, longestPause = 0 } = this.#moments;
    const latest = Date.now();
    this.#moments.longestPause = Math.max(longestPause, latest - moved.latest);
    this.#moments.moved = { earliest, latest };
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
