import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { patternOf, type Request, RequestReader } from './protocol.ts';

const DRIBBLE_EVERY = 20;

/** The server behind the proxy: answers, or hangs on purpose, as each request asks (see protocol.ts). */
export class TestUpstream {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      serveRequests(socket);
    });
  }

  static async listen(): Promise<TestUpstream> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 });
    await once(server, 'listening');
    return new TestUpstream(server);
  }

  get connections(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

function serveRequests(socket: Socket): void {
  let endsWithClient = true;
  let dribbleAfter: number | undefined;
  let answered: Promise<void> = Promise.resolve();

  const serve = async ({ verb, answerBytes, delay }: Request): Promise<void> => {
    if (verb !== 'answer') endsWithClient = false;
    if (verb === 'hush') return;
    if (verb === 'linger') dribbleAfter = delay;
    else if (delay > 0) await sleep(delay);
    if (!socket.writable) return;
    socket.write(patternOf(verb === 'stall' ? answerBytes >> 1 : answerBytes));
    if (verb === 'bye') socket.end();
  };

  const reader = new RequestReader((request) => {
    answered = answered.then(() => serve(request));
  });
  socket.on('data', (chunk) => {
    try {
      reader.push(chunk);
    } catch {
      socket.destroy();
    }
  });
  socket.on('end', async () => {
    await answered;
    if (endsWithClient) socket.end();
    else if (dribbleAfter !== undefined) await dribble(socket, dribbleAfter);
  });
  socket.on('error', () => {}); // a proxy that cuts a connection resets it: expected here, and 'close' follows
}

/** A socket that has read the other's FIN learns of a reset only by writing. */
async function dribble(socket: Socket, after: number): Promise<void> {
  await sleep(after);
  while (socket.writable) {
    socket.write('.');
    await sleep(DRIBBLE_EVERY);
  }
}
