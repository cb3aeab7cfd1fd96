import type { Http2SecureServer, Http2Server } from 'node:http2';
import type { Server } from 'node:net';

/** A server of net, tls, http, https or http2. */
export type DrainableServer = Server | Http2Server | Http2SecureServer;

/** What http servers have beside. */
export interface HttpServer {
  closeIdleConnections: () => void;
  closeAllConnections: () => void;
}

export const isHttpServer = (server: object | undefined): server is HttpServer =>
  typeof (server as HttpServer | undefined)?.closeIdleConnections === 'function';

/**
 * Has a server accept no more; `closed` is called when its connections have ended too. The `close` of an http server
 * destroys connections whose answer has been ended, though it has not been sent. Here it destroys none.
 */
export function stopAccepting(server: DrainableServer, closed: () => void): void {
  if (!isHttpServer(server)) {
    server.close(closed);
    return;
  }
  const own = Object.getOwnPropertyDescriptor(server, 'closeIdleConnections');
  Object.defineProperty(server, 'closeIdleConnections', { value: () => undefined, configurable: true });
  try {
    server.close(closed);
  } finally {
    Reflect.deleteProperty(server, 'closeIdleConnections');
    if (own !== undefined) Object.defineProperty(server, 'closeIdleConnections', own);
  }
}

/** Ends all connections of a server that has a list of them. */
export function closeAllConnections(server: DrainableServer): void {
  (server as Partial<HttpServer>).closeAllConnections?.();
}
