import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { generate, type Packet, parser } from 'mqtt-packet';

/**
 * As much of a client as the example needs: it connects, subscribes, publishes with QoS 1, and pings when it is told
 * to.
 */
export class MqttClient {
  isClosed = false;
  onMessage: (payload: string) => void = () => undefined;
  private readonly socket: Socket;
  private readonly waiting = new Map<string, () => void>();
  private lastId = 0;

  static async connect(port: number, clientId: string, keepalive: number): Promise<MqttClient> {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    await once(socket, 'connect');
    const client = new MqttClient(socket);
    const connected = client.answer('connack');
    client.send({ cmd: 'connect', clientId, keepalive, protocolId: 'MQTT', protocolVersion: 4, clean: true });
    await connected;
    return client;
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    const packets = parser();
    packets.on('packet', (packet: Packet) => this.take(packet));
    socket.on('data', (chunk) => packets.parse(chunk));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.isClosed = true;
    });
  }

  async subscribe(topic: string): Promise<void> {
    this.lastId += 1;
    const done = this.answer(`suback ${this.lastId}`);
    this.send({ cmd: 'subscribe', messageId: this.lastId, subscriptions: [{ topic, qos: 0 }] });
    await done;
  }

  async publish(topic: string, payload: string): Promise<void> {
    this.lastId += 1;
    const done = this.answer(`puback ${this.lastId}`);
    this.send({ cmd: 'publish', messageId: this.lastId, topic, payload, qos: 1, dup: false, retain: false });
    await done;
  }

  ping(): void {
    this.send({ cmd: 'pingreq' });
  }

  close(): void {
    this.socket.destroy();
  }

  private send(packet: Packet): void {
    if (!this.socket.destroyed) this.socket.write(generate(packet));
  }

  private answer(name: string): Promise<void> {
    return new Promise((resolve) => this.waiting.set(name, resolve));
  }

  private take(packet: Packet): void {
    if (packet.cmd === 'publish') this.onMessage(String(packet.payload));
    const name = packet.cmd === 'connack' ? 'connack' : `${packet.cmd} ${packet.messageId}`;
    this.waiting.get(name)?.();
    this.waiting.delete(name);
  }
}
