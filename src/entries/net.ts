export type { DrainResult } from '../extras/net/drain.ts';
export type { DrainableServer } from '../extras/net/drainable-server.ts';
export type { Peer } from '../extras/net/peer.ts';
export { SocketTimeoutError, type TimeoutKind } from '../extras/net/socket-timeout-error.ts';
export {
  type SocketTimeoutOptions,
  type SocketTimeouts,
  socketTimeouts,
  type TimeoutCounts,
} from '../extras/net/socket-timeouts.ts';
export type { WatchedSockets } from '../extras/net/watched-connection.ts';
