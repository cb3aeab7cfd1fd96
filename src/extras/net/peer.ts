import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { InvalidArgumentError } from '../../errors.ts';

/** One end of a connection: a socket, with TLS or without, or an http2 session, which has its socket for itself. */
export type Peer = Socket | TLSSocket | Http2Session;

/** What a peer does before bytes of the program flow. */
export type Opening = 'connect' | 'secure';

/** What a socket of Node has, and no public name shows. */
interface NativeHandle {
  readonly reading?: boolean;
  readonly bytesRead?: number;
  /** That were handed to it. */
  readonly bytesWritten?: number;
  /** Of those, what the system has not taken yet. */
  readonly writeQueueSize?: number;
  /** Of TLS: what carries its records. */
  readonly _parent?: NativeHandle;
}

export const isSession = (peer: Peer): peer is Http2Session => 'goaway' in peer;

/** Throws InvalidArgumentError. */
export function requirePeer(argument: string, peer: Peer): void {
  const { destroy, on } = (typeof peer === 'object' && peer !== null ? peer : {}) as Partial<Socket>;
  const isStream = typeof destroy === 'function' && typeof on === 'function';
  if (isStream && (isSession(peer) || 'bytesRead' in peer)) return;
  throw new InvalidArgumentError(argument, 'must be a net.Socket, a tls.TLSSocket or an http2 session', peer);
}

/** What it does until it is open. A session takes its client's first step, TLS included, as its connecting. */
export function openingOf(peer: Peer): Opening | undefined {
  if (isSession(peer)) return peer.connecting ? 'connect' : undefined;
  if (peer.connecting || peer.pending) return 'connect';
  return isSecuring(peer) ? 'secure' : undefined;
}

/** Whether it is in a step of its opening: in this one, or in any. */
export function isOpening(peer: Peer, step?: Opening): boolean {
  if (peer.destroyed) return false;
  const present = openingOf(peer);
  return present !== undefined && (step === undefined || present === step);
}

/** Whether one direction of it has ended. */
export const isHalfEnded = (peer: Peer): boolean =>
  !isSession(peer) && !peer.destroyed && (peer.readableEnded || peer.writableFinished);

/**
 * Whether a socket that was open has gone to another process, by `child.send`: then it has no handle, and no event
 * tells of it.
 */
export const isHandedOver = (peer: Peer): boolean =>
  !isSession(peer) && !peer.destroyed && peer.pending && !peer.connecting;

/** `secureConnecting` alone stays true for a TLSSocket that a program made for its side of a server. */
function isSecuring(peer: Socket | TLSSocket): boolean {
  const { secureConnecting, getPeerFinished } = peer as Partial<TLSSocket> & { secureConnecting?: boolean };
  return secureConnecting === true && getPeerFinished?.call(peer as TLSSocket) === undefined;
}

/** Bytes that it has read. It must not be destroyed. */
export function bytesReadBy(peer: Peer): number {
  return isSession(peer) ? peer.socket.bytesRead : peer.bytesRead;
}

/** Whether nobody reads from it yet, as with `pauseOnConnect`: the system keeps what has come. */
export const isUnread = (peer: Peer): boolean =>
  !isSession(peer) && !peer.destroyed && handleOf(peer)?.reading === false;

/**
 * A number that grows with each byte that the peer has sent to us, or the system has taken for it; 0 once it is
 * destroyed. What only waits to be written is no sign of life. With TLS, the bytes of its records. Node judges
 * `socket.setTimeout` by the same count of a chunk on its way.
 */
export function progressOf(peer: Peer): number {
  if (peer.destroyed) return 0;
  const socket = socketOf(peer);
  const { bytesRead, bytesWritten, writeQueueSize = 0 } = carrierHandleOf(socket) ?? {};
  if (bytesRead !== undefined && bytesWritten !== undefined) return bytesRead + bytesWritten - writeQueueSize;
  return socket.bytesRead + (socket.bytesWritten ?? 0) - socket.writableLength;
}

/** Whether bytes wait in it, or in its handle, that the system has not taken yet. */
export function hasUnwritten(peer: Peer): boolean {
  if (peer.destroyed) return false;
  const socket = socketOf(peer);
  return socket.writableLength > 0 || (carrierHandleOf(socket)?.writeQueueSize ?? 0) > 0;
}

const socketOf = (peer: Peer): Socket | TLSSocket => (isSession(peer) ? peer.socket : peer);

const handleOf = (socket: Socket): NativeHandle | undefined =>
  (socket as { _handle?: NativeHandle | null })._handle ?? undefined;

/** The handle that the system's bytes go through: with TLS, of what carries its records. */
const carrierHandleOf = (socket: Socket): NativeHandle | undefined => handleOf(socket)?._parent ?? handleOf(socket);
