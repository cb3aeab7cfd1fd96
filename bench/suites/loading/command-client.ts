import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import type { WholeProgram } from './whole-program.ts';

const COMMANDS = 20_000;
/** Commands that are under way at a time. */
const WAVE = 2000;
/** ms that a command may take. */
const DEADLINE = 10_000;

/** A client of a store whose every command has a deadline, on a pipelined socket. The server is in the process. */
export class CommandClient implements WholeProgram {
  readonly #commands: number;
  readonly #wave: number;
  readonly #server: Server;
  readonly #redis: Redis;

  /** `part`: how much of a full slice is one slice. */
  static async start(part = 1): Promise<CommandClient> {
    const server = createServer(serve).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const redis = new Redis({ host: '127.0.0.1', port, commandTimeout: DEADLINE, maxRetriesPerRequest: 0 });
    await once(redis, 'ready');
    return new CommandClient(server, redis, Math.ceil(COMMANDS * part));
  }

  private constructor(server: Server, redis: Redis, commands: number) {
    this.#server = server;
    this.#redis = redis;
    this.#commands = commands;
    this.#wave = Math.min(WAVE, commands);
  }

  async work(): Promise<number> {
    let done = 0;
    for (; done < this.#commands; done += this.#wave) {
      await Promise.all(Array.from({ length: this.#wave }, (_, at) => this.#command(done + at)));
    }
    return done;
  }

  async stop(): Promise<void> {
    this.#redis.disconnect();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #command(at: number): Promise<void> {
    if ((await this.#redis.get(`key ${at}`)) !== 'value') throw new Error('another answer than was given');
  }
}

const INFO = 'redis_version:7.0.0\r\nloading:0\r\n';
const answers: Readonly<Record<string, string>> = {
  GET: '$5\r\nvalue\r\n',
  INFO: `$${INFO.length}\r\n${INFO}\r\n`,
  HELLO: '%1\r\n$5\r\nproto\r\n:3\r\n',
};

/** Answers each command by its name. A command is `*n`, then for each word `$length` and the word, all in lines. */
function serve(socket: Socket): void {
  let unread = '';
  socket.setNoDelay().on('error', () => undefined);
  socket.on('data', (chunk) => {
    const lines = (unread + chunk.toString('latin1')).split('\r\n');
    let [at, answer] = [0, ''];
    for (;;) {
      const words = Number(lines[at]?.slice(1));
      const next = at + 1 + 2 * words;
      if (!(next < lines.length)) break;
      answer += answers[lines[at + 2].toUpperCase()] ?? '+OK\r\n';
      at = next;
    }
    unread = lines.slice(at).join('\r\n');
    if (answer !== '') socket.write(answer);
  });
}
