export type { DrainableServer, DrainResult } from '../net/drain.ts';
export type { Peer } from '../net/peer.ts';
export { SocketTimeoutError, type TimeoutKind } from '../net/socket-timeout-error.ts';
export {
  type SocketTimeoutOptions,
  type SocketTimeouts,
  socketTimeouts,
  type TimeoutCounts,
} from '../net/socket-timeouts.ts';
export type { WatchedSockets } from '../net/watched-connection.ts';
