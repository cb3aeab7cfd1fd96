import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Aedes } from 'aedes';
import type { LatenessHistogram } from '../../../src/metrics/lateness-histogram.ts';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import { xorshift } from '../../replay/xorshift.ts';
import type { Program, RunningProgram } from './program.ts';
import { faces, none } from './program-timers.ts';
import { Wire } from './wire.ts';

const CLIENTS = 100_000;
const MESSAGES = 20_000;
/** Messages that are under way at a time. */
const WAVE = 200;
/** Of so many messages one comes from a client that connects anew. */
const RECONNECTS = 20;
/** Keepalives are of so many seconds, and up to a minute more. */
const [SHORTEST, SPAN] = [300, 60];
const CONNACK = 0x20;
const PUBACK = 0x40;

/** An MQTT broker whose clients have a keepalive each. */
export const mqttBroker: Program = {
  name: 'broker',
  title: 'an MQTT broker with 100,000 keepalives',
  about:
    `aedes, ${CLIENTS.toLocaleString('en-US')} clients with keepalives of ${SHORTEST} to ${SHORTEST + SPAN - 1} s over streams in ` +
    `process; they stay, and move to the timers of each slice. ${MESSAGES.toLocaleString('en-US')} messages of QoS 1 in a slice, ` +
    `by random clients, ${WAVE} at a time; one of ${RECONNECTS} comes after a reconnect.`,
  operation: 'message',
  live: 'client',
  memoryPart: 0.1,
  slices: 4,
  isKept: true,
  wait: 'message until its acknowledgement',
  subjects: [...faces, none],
  start: (part) => Broker.start(Math.max(WAVE, Math.round(CLIENTS * part)), WAVE * Math.ceil((MESSAGES * part) / WAVE)),
};

/** Where aedes keeps a client's timer. */
interface KeptAlive {
  _keepaliveTimer: NodeJS.Timeout;
  readonly _keepaliveInterval: number;
  readonly closed: boolean;
}

class Broker implements RunningProgram {
  readonly live: number;
  readonly #messages: number;
  readonly #broker: Aedes;
  readonly #wires: Wire[] = [];
  readonly #clients = new Map<string, KeptAlive>();
  #lost = 0;
  #state = SEED;

  static async start(clients: number, messages: number): Promise<Broker> {
    const running = new Broker(await Aedes.createBroker({ concurrency: 1000 }), clients, messages);
    await running.#connectAll();
    return running;
  }

  private constructor(broker: Aedes, clients: number, messages: number) {
    this.live = clients;
    this.#messages = messages;
    this.#broker = broker;
    broker.on('keepaliveTimeout', () => {
      this.#lost += 1;
    });
    broker.on('client', (client) => this.#clients.set(client.id, client as unknown as KeptAlive));
  }

  async work(waits: LatenessHistogram): Promise<number> {
    for (let done = 0; done < this.#messages; done += WAVE) {
      await Promise.all(Array.from({ length: WAVE }, (_, at) => this.#message(done + at, waits)));
    }
    return this.#messages;
  }

  move(): void {
    for (const client of this.#clients.values()) {
      if (client.closed) continue; // whose place another will have taken: stop() counts
      clearTimeout(client._keepaliveTimer);
      client._keepaliveTimer = setTimeout(
        () => this.#broker.emit('keepaliveTimeout', client),
        client._keepaliveInterval,
      );
    }
  }

  async stop(): Promise<void> {
    if (this.#lost > 0) throw new Error(`${this.#lost} clients were given up`);
    if (this.#broker.connectedClients !== this.live) throw new Error(`${this.#broker.connectedClients} clients remain`);
    await new Promise<void>((resolve) => this.#broker.close(resolve));
    for (const wire of this.#wires) wire.destroy();
    await nextTurn();
  }

  async #connectAll(): Promise<void> {
    for (let done = 0; done < this.live; done += WAVE) {
      const count = Math.min(WAVE, this.live - done);
      await Promise.all(Array.from({ length: count }, (_, at) => this.#connect(done + at)));
    }
  }

  async #connect(client: number): Promise<void> {
    const wire = new Wire();
    this.#wires[client] = wire;
    this.#broker.handle(wire);
    await answered(wire, connectPacket(client), CONNACK);
  }

  async #message(at: number, waits: LatenessHistogram): Promise<void> {
    this.#state = xorshift(this.#state);
    // The clients of a wave differ: each has an answer of its own to wait for.
    const client =
      Math.floor(((at % WAVE) * this.live) / WAVE) + scaled(this.#state, scaleFor(Math.floor(this.live / WAVE)));
    if (at % RECONNECTS === 0) {
      const closed = new Promise((resolve) => this.#wires[client].once('close', resolve));
      this.#wires[client].send(disconnectPacket);
      await closed;
      await this.#connect(client);
    }
    const start = performance.now();
    await answered(this.#wires[client], publishPacket, PUBACK);
    waits.record(performance.now() - start);
  }
}

/** Sends it, and waits for a packet of that type. */
function answered(wire: Wire, packet: Buffer, type: number): Promise<void> {
  return new Promise((resolve) => {
    wire.onAnswer = (chunk) => {
      if ((chunk[0] & 0xf0) === type) resolve();
    };
    wire.send(packet);
  });
}

/** A packet of less than 128 bytes: type and flags, length, the rest. */
const packetOf = (head: number, ...rest: Buffer[]): Buffer => {
  const body = Buffer.concat(rest);
  return Buffer.concat([Buffer.from([head, body.length]), body]);
};

const text = (value: string): Buffer => Buffer.concat([Buffer.from([0, value.length]), Buffer.from(value)]);

const bytesOf = (word: number): [number, number] => [word >> 8, word & 0xff];

/** MQTT 3.1.1, clean session. */
const connectPacket = (client: number): Buffer =>
  packetOf(0x10, text('MQTT'), Buffer.from([4, 2, ...bytesOf(SHORTEST + (client % SPAN))]), text(`client ${client}`));

const disconnectPacket = packetOf(0xe0);
const publishPacket = packetOf(
  0x32,
  text('measured'),
  Buffer.from([0, 1]),
  Buffer.from('32 bytes of what was measured ..'),
);
