import type { ClientHttp2Session, ClientHttp2Stream, Http2Session } from 'node:http2';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

interface Ends<Near, Far> {
  near: Near;
  far: Far;
}

export class Sockets {
  close(): void;
  keep<P extends { destroy(): unknown }>(peer: P): P;
  listen(server: unknown): Promise<number>;
  carrierOf(far: TLSSocket): Socket;
  net(options?: { pauseOnConnect?: boolean }): Promise<Ends<Socket, Socket>>;
  tls(): Promise<Ends<TLSSocket, TLSSocket> & { raw: Socket }>;
  connecting(): Socket;
  clientOfSilence(): Promise<Ends<TLSSocket, Socket> & { raw: Socket }>;
  serverOfHalfAHello(): Promise<Ends<TLSSocket, Socket> & { raw: Socket }>;
  http2(): Promise<Ends<Http2Session, ClientHttp2Session> & { request: ClientHttp2Stream }>;
  http(isSecure: boolean): Promise<Ends<Socket, Socket> & { response: import('node:http').ServerResponse }>;
  readonly servers: Server[];
}
