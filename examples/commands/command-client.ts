import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type Scheduler, TimeoutError } from 'shardwheel';

interface Pending {
  readonly id: number;
  readonly limit: number;
  readonly timer: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A client of a server that speaks JSON by lines, many commands at a time on one connection. Each command has a
 * deadline: a timer that its answer cancels. All of a client's timers share one callback, and stand on one shard.
 */
export class CommandClient {
  /** Answers that came after their deadline. */
  late = 0;
  private readonly socket: Socket;
  private readonly scheduler: Scheduler;
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;

  static async connect(scheduler: Scheduler, port: number): Promise<CommandClient> {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    await once(socket, 'connect');
    return new CommandClient(scheduler, socket);
  }

  private constructor(scheduler: Scheduler, socket: Socket) {
    this.scheduler = scheduler;
    this.socket = socket;
    createInterface({ input: socket }).on('line', (line) => this.take(line));
    socket.on('close', () => this.failAll(new Error('the connection was closed')));
  }

  /** Rejects with a TimeoutError after `limit` ms. */
  send(command: string, limit: number): Promise<unknown> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      const timer = this.scheduler.scheduleAfter(this.socket.localPort ?? 0, limit, this.giveUp, id);
      this.pending.set(id, { id, limit, timer, resolve, reject });
      this.socket.write(`${JSON.stringify({ id, command })}\n`);
    });
  }

  async close(): Promise<void> {
    this.socket.destroy();
    if (!this.socket.closed) await once(this.socket, 'close');
  }

  private take(line: string): void {
    const { id, answer } = JSON.parse(line) as { id: number; answer: unknown };
    const pending = this.pending.get(id);
    if (pending === undefined) {
      this.late += 1;
      return;
    }
    this.pending.delete(id);
    this.scheduler.cancel(pending.timer);
    pending.resolve(answer);
  }

  private readonly giveUp = (id: number): void => {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    pending?.reject(new TimeoutError(pending.limit));
  };

  private failAll(error: Error): void {
    for (const { timer, reject } of this.pending.values()) {
      this.scheduler.cancel(timer);
      reject(error);
    }
    this.pending.clear();
  }
}
