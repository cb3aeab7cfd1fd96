import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LatenessHistogram } from '../../../src/metrics/lateness-histogram.ts';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import { xorshift } from '../../replay/xorshift.ts';
import type { Program, RunningProgram } from './program.ts';
import { faces, none } from './program-timers.ts';
import { Wire } from './wire.ts';

/** What is used of ws, which has no types of its own. */
interface WebSocket extends EventEmitter {
  send(data: string): void;
  ping(): void;
  terminate(): void;
}
interface WebSocketServer {
  handleUpgrade(request: object, socket: Wire, head: Buffer, done: (socket: WebSocket) => void): void;
  close(): void;
}
const { WebSocketServer: Server }: { WebSocketServer: new (options: object) => WebSocketServer } = createRequire(
  import.meta.url,
)('ws');

const CONNECTIONS = 20_000;
const MESSAGES = 50_000;
/** Messages in one turn of the event loop. */
const WAVE = 200;
/** ms: a connection that brings nothing for so long is cut; it is pinged after 20 to 40 s, each at its own time. */
const PATIENCE = 120_000;
const [PING, PING_SPAN] = [20_000, 20_000];
const TEXT = '64 bytes of what a client has to say to all others in the room ..';

/** A WebSocket server with a heartbeat per connection, as the README of ws has it. */
export const websocketServer: Program = {
  name: 'heartbeats',
  title: 'a WebSocket server with heartbeats',
  about:
    `ws, ${CONNECTIONS.toLocaleString('en-US')} connections over streams in process, which stay, each with an interval that pings it and a ` +
    `timeout of ${PATIENCE / 1000} s that each message clears and sets anew. ${MESSAGES.toLocaleString('en-US')} messages in a slice, of ` +
    `${TEXT.length} bytes by random clients, ${WAVE} in a turn, echoed.`,
  operation: 'message',
  live: 'connection',
  slices: 8,
  isKept: true,
  wait: 'message until its echo',
  subjects: [...faces, none],
  start: async (part) => {
    const running = new HeartbeatServer(Math.round(CONNECTIONS * part), WAVE * Math.ceil((MESSAGES * part) / WAVE));
    await running.connectAll();
    return running;
  },
};

class HeartbeatServer implements RunningProgram {
  readonly live: number;
  readonly #messages: number;
  readonly #server = new Server({ noServer: true, perMessageDeflate: false, clientTracking: false });
  readonly #wires: Wire[] = [];
  readonly #sockets: WebSocket[] = [];
  readonly #stops: (() => void)[] = [];
  readonly #starts: (() => void)[] = [];
  #cut = 0;
  #state = SEED;

  constructor(connections: number, messages: number) {
    this.live = connections;
    this.#messages = messages;
  }

  async connectAll(): Promise<void> {
    for (let at = 0; at < this.live; at++) {
      const wire = new Wire();
      this.#wires.push(wire);
      this.#server.handleUpgrade(request(), wire, Buffer.alloc(0), (socket) => this.#serve(socket, at));
      if (at % WAVE === 0) await nextTurn();
    }
    await nextTurn();
  }

  /** What a server does with a connection. */
  #serve(socket: WebSocket, at: number): void {
    const cut = () => {
      this.#cut += 1;
      socket.terminate();
    };
    let patience: NodeJS.Timeout;
    let pings: NodeJS.Timeout;
    const heard = () => {
      clearTimeout(patience);
      patience = setTimeout(cut, PATIENCE);
    };
    const start = () => {
      heard();
      pings = setInterval(() => socket.ping(), PING + scaled(Math.imul(at, 0x9e3779b1), scaleFor(PING_SPAN)));
    };
    start();
    socket.on('pong', heard);
    socket.on('message', (data: Buffer) => {
      heard();
      socket.send(String(data));
    });
    this.#sockets.push(socket);
    this.#starts.push(start);
    this.#stops.push(() => {
      clearTimeout(patience);
      clearInterval(pings);
    });
  }

  async work(waits: LatenessHistogram): Promise<number> {
    let echoes = 0;
    for (let done = 0; done < this.#messages; done += WAVE) {
      const start = performance.now(); // all have come before this turn
      for (let i = 0; i < WAVE; i++) {
        this.#state = xorshift(this.#state);
        const wire = this.#wires[scaled(this.#state, scaleFor(this.live))];
        wire.onAnswer = (chunk) => {
          if (chunk[0] !== 0x81) return;
          echoes += 1;
          waits.record(performance.now() - start);
        };
        wire.send(frame);
      }
      await nextTurn();
    }
    for (let turn = 0; echoes < this.#messages && turn < 1000; turn++) await nextTurn();
    if (echoes !== this.#messages) throw new Error(`${echoes} echoes to ${this.#messages} messages`);
    return this.#messages;
  }

  move(): void {
    for (const stop of this.#stops) stop();
    for (const start of this.#starts) start();
  }

  async stop(): Promise<void> {
    if (this.#cut > 0) throw new Error(`${this.#cut} connections were cut`);
    for (const stop of this.#stops) stop();
    for (const socket of this.#sockets) socket.terminate();
    this.#server.close();
    await nextTurn();
  }
}

const request = () =>
  Object.assign(new EventEmitter(), {
    method: 'GET',
    url: '/',
    headers: {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-version': '13',
    },
  });

/** A text frame of a client: final, masked with zeros, which changes nothing. */
const frame = Buffer.concat([Buffer.from([0x81, 0x80 | TEXT.length, 0, 0, 0, 0]), Buffer.from(TEXT)]);
