/** A limit of a connection. */
export type TimeoutKind = 'connect' | 'secure' | 'firstByte' | 'idle' | 'halfClose' | 'lifetime';

const WHAT: Readonly<Record<TimeoutKind | 'drain', string>> = {
  connect: 'was not established within',
  secure: 'had no TLS session within',
  firstByte: "brought no byte of its client's within",
  idle: 'moved no byte for',
  halfClose: 'had one direction ended, and not the other, for',
  lifetime: 'was open for',
  drain: 'did not end within the drain of',
};

/** A limit of `socketTimeouts` has ended the connection: both of its sockets are destroyed with this error. */
export class SocketTimeoutError extends Error {
  readonly code = 'ERR_SOCKET_TIMEOUT';
  override readonly name = 'SocketTimeoutError';
  /** The limit, or 'drain'. */
  readonly kind: TimeoutKind | 'drain';
  /** The limit as it was in force, in ms. */
  readonly after: number;

  constructor(kind: SocketTimeoutError['kind'], after: number) {
    super(`The connection ${WHAT[kind]} ${after} ms`);
    this.kind = kind;
    this.after = after;
  }
}
