// Connections on loopback in every state: see ending-cases.mjs. For threads, which run no TypeScript on Node 20.
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { cert, key } from './certificate.mjs';

const HALF_A_HELLO = Buffer.from('16030100c8010000c40303', 'hex');
const ignore = () => undefined;

/** A connection of a program: what it watches, and whoever is at the other end. */
export class Sockets {
  servers = [];
  peers = [];
  carriers = new Map();

  /** Closes all that was opened. What lies upon another goes first: Node crashes when it is left without it. */
  close() {
    for (const peer of this.peers.reverse()) peer.destroy();
    for (const server of this.servers) server.close();
  }

  keep(peer) {
    peer.on('error', ignore);
    this.peers.push(peer);
    return peer;
  }

  /** What carries the records of a client of `tls`. */
  carrierOf(far) {
    return this.carriers.get(far);
  }

  async listen(server) {
    this.servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server.address().port;
  }

  /** Two ends of a connection: what a server has accepted, and the client. */
  async net({ pauseOnConnect = false } = {}) {
    const server = net.createServer({ allowHalfOpen: true, pauseOnConnect });
    const port = await this.listen(server);
    const accepted = once(server, 'connection');
    const far = this.keep(net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
    const [near] = await accepted;
    if (far.connecting) await once(far, 'connect');
    server.close();
    return { near: this.keep(near), far };
  }

  /** As `net`, through TLS; `raw` is what carries the near side. */
  async tls() {
    const { near: raw, far: rawFar } = await this.net();
    const near = this.keep(new tls.TLSSocket(raw, { isServer: true, key, cert }));
    const far = this.keep(tls.connect({ socket: rawFar, rejectUnauthorized: false }));
    this.carriers.set(far, rawFar);
    await Promise.all([once(near, 'secure'), once(far, 'secureConnect')]);
    return { near, far, raw };
  }

  /** A socket that is never connected. */
  connecting() {
    return this.keep(net.connect({ port: 9, host: 'nowhere.invalid', lookup: ignore }));
  }

  /** A client whose server is silent in the handshake. */
  async clientOfSilence() {
    const { near, far } = await this.net();
    return { near: this.keep(tls.connect({ socket: near, rejectUnauthorized: false })), far, raw: near };
  }

  /** A server whose client stops in the middle of its hello. */
  async serverOfHalfAHello() {
    const { near, far } = await this.net();
    far.write(HALF_A_HELLO);
    return { near: this.keep(new tls.TLSSocket(near, { isServer: true, key, cert })), far, raw: near };
  }

  /** Sessions of both sides; with a request that is not answered. */
  async http2() {
    const server = http2.createServer();
    const port = await this.listen(server);
    server.on('stream', (stream) => {
      stream.on('error', ignore);
      stream.respond();
    });
    const session = once(server, 'session');
    const far = this.keep(http2.connect(`http://127.0.0.1:${port}`));
    const [near] = await session;
    this.keep(near);
    const request = far.request();
    request.on('error', ignore);
    await once(request, 'response');
    server.close();
    return { near, far, request };
  }

  /** The socket of an http server, with a request that is not answered. */
  async http(isSecure) {
    const options = isSecure ? { key, cert } : {};
    const { createServer, request: ask } = isSecure ? https : http;
    const server = createServer(options);
    server.on('clientError', ignore);
    const port = await this.listen(server);
    const asked = once(server, 'request');
    const request = ask({ port, host: '127.0.0.1', rejectUnauthorized: false, agent: false });
    request.on('error', ignore);
    request.end();
    const [{ socket: near }, response] = await asked;
    response.on('error', ignore);
    server.close();
    return { near: this.keep(near), far: this.keep(request.socket), response };
  }
}
