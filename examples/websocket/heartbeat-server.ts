import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Scheduler, TimerLabel } from 'shardwheel';
import { type WebSocket, WebSocketServer } from 'ws';

interface Peer {
  readonly socket: WebSocket;
  isAlive: boolean;
}

/**
 * A WebSocket server that pings each peer every `period` ms, and terminates those that have not answered by the next
 * ping. One repeating timer per peer, with a slack of a tenth of the period, so that the timers of many peers share a
 * wake.
 */
export class HeartbeatServer {
  pings = 0;
  /** Peers that did not answer. */
  terminated = 0;
  private readonly server: WebSocketServer;
  private readonly scheduler: Scheduler;
  private readonly heartbeat: TimerLabel;
  private readonly period: number;
  private peers = 0;

  static async listen(scheduler: Scheduler, period: number): Promise<HeartbeatServer> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    return new HeartbeatServer(server, scheduler, period);
  }

  private constructor(server: WebSocketServer, scheduler: Scheduler, period: number) {
    this.server = server;
    this.scheduler = scheduler;
    this.period = period;
    this.heartbeat = scheduler.label('heartbeat', { slack: Math.floor(period / 10) });
    server.on('connection', (socket) => this.accept(socket));
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get connected(): number {
    return this.server.clients.size;
  }

  async close(): Promise<void> {
    for (const socket of this.server.clients) socket.terminate();
    this.server.close();
    await once(this.server, 'close');
  }

  private accept(socket: WebSocket): void {
    this.peers += 1;
    const peer: Peer = { socket, isAlive: true };
    const timer = this.heartbeat.scheduleEvery(this.peers, this.period, this.beat, peer);
    socket.on('pong', () => {
      peer.isAlive = true;
    });
    socket.on('message', (data) => socket.send(data));
    socket.once('close', () => this.scheduler.cancel(timer));
  }

  private readonly beat = (peer: Peer): void => {
    if (!peer.isAlive) {
      this.terminated += 1;
      peer.socket.terminate();
      return;
    }
    peer.isAlive = false;
    this.pings += 1;
    peer.socket.ping();
  };
}
