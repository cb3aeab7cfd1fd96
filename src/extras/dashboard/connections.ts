import type { Socket } from 'node:net';
import { clearTimeout, setImmediate, setTimeout } from '../../time/native-timers.ts';

/** ms within which the request of a connection must arrive, from its begin, whatever else does. */
const REQUEST_MS = 5000;
/** ms within which an answer that has an end must have been taken. */
const ANSWER_MS = 30_000;

/**
 * The open connections of a server, of one request each. None stays that does nothing: Node's own limits leave one
 * alone that has sent no byte, or line feeds alone.
 */
export class Connections {
  /** Of those that wait for a request, or for its answer to be taken. */
  private readonly limits = new WeakMap<Socket, NodeJS.Timeout>();
  private readonly requestMs: number;
  private readonly answerMs: number;
  private open = 0;

  constructor(requestMs = REQUEST_MS, answerMs = ANSWER_MS) {
    this.requestMs = requestMs;
    this.answerMs = answerMs;
  }

  get count(): number {
    return this.open;
  }

  add(socket: Socket): void {
    socket.unref();
    this.open += 1;
    this.limit(socket, this.requestMs);
    socket.once('close', () => {
      this.open -= 1;
      this.release(socket);
    });
  }

  /** Its request has come. */
  answer(socket: Socket): void {
    this.limit(socket, this.answerMs);
  }

  /** Its answer has no end: an event stream drops those that do not read by itself. */
  release(socket: Socket): void {
    clearTimeout(this.limits.get(socket));
    this.limits.delete(socket);
  }

  private limit(socket: Socket, time: number): void {
    this.release(socket);
    const limit: NodeJS.Timeout = setTimeout(() => {
      // After a stall of the event loop, what has come meanwhile is read first.
      setImmediate(() => {
        if (this.limits.get(socket) === limit) socket.destroy();
      });
    }, time).unref();
    this.limits.set(socket, limit);
  }
}
