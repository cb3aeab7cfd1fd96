import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';

/**
 * One address for threads that cannot share a port: whoever connects is told the port of a thread, and connects there.
 *
 * Node passes sockets to processes, not to threads. A thread can listen on a file descriptor, but Node duplicates none:
 * the first thread to end closes it under all others, and when Node 20 was tried so, an assertion of libuv ended the
 * process. To proxy each connection through the acceptor would make of it the one event loop that threads are there to
 * avoid. So it hands out ports, which costs a client one more short connection.
 */
export class Acceptor {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** @param nextPort of a thread that listens */
  static async listen(nextPort: () => number): Promise<Acceptor> {
    const server = createServer((socket) => {
      socket.on('error', () => {}); // the client is gone: nobody needs the answer
      socket.resume().end(String(nextPort()));
    });
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 });
    await once(server, 'listening');
    return new Acceptor(server);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}

/** What a client of an acceptor does first. */
export async function askForPort(acceptorPort: number): Promise<number> {
  const socket = connect({ port: acceptorPort, host: '127.0.0.1' }).setEncoding('utf8');
  let answer = '';
  socket.on('data', (text) => {
    answer += text;
  });
  await once(socket, 'end');
  return Number(answer);
}
