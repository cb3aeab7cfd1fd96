import { type DrainableServer, type HttpServer, isHttpServer } from './drainable-server.ts';
import { bytesReadBy, hasUnwritten, isSession, type Peer } from './peer.ts';

/** What Node knows of a socket of an http server, and no public name shows. */
interface HttpSocket {
  readonly server?: object;
  /** null once the socket has been upgraded; undefined where the runtime has none. */
  readonly parser?: { readonly incoming?: unknown } | null;
  /** The answer that is being made, or is on its way. */
  readonly _httpMessage?: unknown;
}

/** Node's list of the connections of an http server: the name of its symbol, and what it answers. */
const CONNECTIONS = 'http.server.connections';

interface ConnectionsList {
  /** Parsers that wait for the first byte of a further request. */
  idle(): { readonly socket: (HttpSocket & Peer) | null }[];
}

/** One look at sockets of http servers: which are between two requests. Each server's list is read once. */
export class HttpLook {
  private readonly idle = new Map<HttpServer, ReadonlySet<HttpSocket> | undefined>();

  /**
   * ms without a byte after which a peer is idle. `usual`, but for the socket of an http server: between two requests,
   * or while an answer is being made, no byte flows. So it is idle at once when it is between two requests, and until
   * then not at all. Before its first byte and once it has been upgraded it is a socket like others.
   */
  quietOf(peer: Peer, usual: number): number {
    const { server, parser } = peer as HttpSocket;
    if (isSession(peer) || !isHttpServer(server) || parser === null || bytesReadBy(peer) === 0) return usual;
    if (parser === undefined || isAnswering(peer)) return Number.POSITIVE_INFINITY;
    const idle = this.idleOf(server);
    if (idle !== undefined) return idle.has(peer as HttpSocket) ? 0 : Number.POSITIVE_INFINITY;
    const isReceiving = parser.incoming !== undefined && parser.incoming !== null;
    return isReceiving ? Number.POSITIVE_INFINITY : usual;
  }

  /**
   * Ends the sockets of a server that are between two requests, watched or not. `closeIdleConnections` ends those too
   * whose answer has not been sent. It serves where there is no list, unless `isWriting`.
   */
  endIdleOf(server: DrainableServer, isWriting: () => boolean): void {
    if (!isHttpServer(server)) return;
    const idle = this.idleOf(server);
    if (idle === undefined) {
      if (!isWriting()) server.closeIdleConnections();
      return;
    }
    for (const socket of idle as ReadonlySet<HttpSocket & Peer>) if (!isAnswering(socket)) socket.destroy();
  }

  private idleOf(server: HttpServer): ReadonlySet<HttpSocket> | undefined {
    if (!this.idle.has(server)) this.idle.set(server, readIdle(server));
    return this.idle.get(server);
  }
}

function readIdle(server: HttpServer): ReadonlySet<HttpSocket> | undefined {
  const symbol = Object.getOwnPropertySymbols(server).find(({ description }) => description === CONNECTIONS);
  if (symbol === undefined) return undefined;
  const list = (server as unknown as Record<symbol, ConnectionsList | undefined>)[symbol];
  const sockets = list?.idle().map(({ socket }) => socket);
  return sockets && new Set(sockets.filter((socket) => socket !== null));
}

/** Whether an answer is being made, or has not been taken by the system yet. */
function isAnswering(socket: HttpSocket & Peer): boolean {
  return Boolean(socket._httpMessage) || hasUnwritten(socket);
}
