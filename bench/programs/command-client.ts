import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { Redis } from 'ioredis';
import type { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';
import type { Program, RunningProgram } from './program.ts';
import { faces, none } from './program-timers.ts';

const COMMANDS = 20_000;
/** Commands that are under way at a time. */
const WAVE = 2000;
/** ms that a command may take. */
const DEADLINE = 10_000;

/** A client of a store whose every command has a deadline. */
export const commandClient: Program = {
  name: 'commands',
  title: 'a client with a deadline per command',
  about:
    `ioredis with commandTimeout ${DEADLINE / 1000} s, on a connection to a server in process that answers each command at once. ` +
    `${COMMANDS.toLocaleString('en-US')} commands in a slice, ${WAVE.toLocaleString('en-US')} under way at a time.`,
  operation: 'command',
  slices: 8,
  isKept: true,
  wait: 'command until its answer',
  subjects: [...faces, none],
  start: (part) => Client.start(Math.ceil(COMMANDS * part), Math.min(WAVE, Math.ceil(COMMANDS * part))),
};

class Client implements RunningProgram {
  readonly live: number;
  readonly #commands: number;
  readonly #server: Server;
  readonly #redis: Redis;

  static async start(commands: number, wave: number): Promise<Client> {
    const server = createServer(serve).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const redis = new Redis({ host: '127.0.0.1', port, commandTimeout: DEADLINE, maxRetriesPerRequest: 0 });
    await once(redis, 'ready');
    return new Client(server, redis, commands, wave);
  }

  private constructor(server: Server, redis: Redis, commands: number, wave: number) {
    this.#server = server;
    this.#redis = redis;
    this.#commands = commands;
    this.live = wave;
  }

  async work(waits: LatenessHistogram): Promise<number> {
    for (let done = 0; done < this.#commands; done += this.live) {
      await Promise.all(Array.from({ length: this.live }, (_, at) => this.#command(done + at, waits)));
    }
    return this.#commands;
  }

  async stop(): Promise<void> {
    this.#redis.disconnect();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #command(at: number, waits: LatenessHistogram): Promise<void> {
    const start = performance.now();
    if ((await this.#redis.get(`key ${at}`)) !== 'value') throw new Error('another answer than was given');
    waits.record(performance.now() - start);
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
