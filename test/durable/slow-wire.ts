import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { pause } from './conformance/stores.ts';

/** A way to a server of loopback on which answers can be held up. */
export class SlowWire {
  /** Each answer that contains `holdUp` waits for `ms`, and what comes after it on its connection waits behind it. */
  holdUp: string | undefined;
  /** Answers that were held up. */
  held = 0;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(port: number, ms: number) {
    this.server = createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
      for (const socket of [client, upstream]) {
        this.sockets.add(socket);
        socket.setNoDelay(true).on('error', () => undefined);
        socket.on('close', () => this.sockets.delete(socket));
      }
      client.pipe(upstream);
      let before = Promise.resolve();
      upstream.on('data', (answer) => {
        const isHeld = this.holdUp !== undefined && answer.includes(this.holdUp);
        if (isHeld) this.held += 1;
        before = before.then(async () => {
          if (isHeld) await pause(ms);
          client.write(answer);
        });
      });
      upstream.on('end', () => void before.then(() => client.end()));
    });
  }

  static async to(url: string, ms: number): Promise<SlowWire> {
    const wire = new SlowWire(Number(new URL(url).port), ms);
    wire.server.listen(0, '127.0.0.1');
    await once(wire.server, 'listening');
    return wire;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Nothing comes or goes until `resume`. */
  pause(): void {
    for (const socket of this.sockets) socket.pause();
  }

  resume(): void {
    for (const socket of this.sockets) socket.resume();
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}
