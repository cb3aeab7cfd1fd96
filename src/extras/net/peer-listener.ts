import type { EventEmitter } from 'node:events';
import { InvalidArgumentError } from '../../errors.ts';
import { isSession, type Opening, type Peer } from './peer.ts';

/** What hears of a peer's events. */
export interface PeerListener {
  /** A step of its opening is over. */
  opened(peer: Peer): void;
  directionEnded(): void;
  closed(peer: Peer): void;
}

/** Under which a peer has its listener, so that one function serves all. */
const LISTENER = Symbol('shardwheel.listener');

type HeardPeer = Peer & { [LISTENER]?: PeerListener | undefined };

/** Events of a socket: a step of its opening is over, a direction has ended. */
const STEPS: readonly Opening[] = ['connect', 'secure'];
const DIRECTION_ENDS = ['end', 'finish'];

const emitterOf = (peer: Peer): EventEmitter => peer as EventEmitter;

const listenerOf = (peer: HeardPeer): PeerListener | undefined => peer[LISTENER];

/** Throws InvalidArgumentError. */
export function requireUnwatched(peer: Peer): void {
  if (listenerOf(peer) === undefined) return;
  throw new InvalidArgumentError('socket', 'must not be watched already: release() that watch first', peer);
}

/** Has a listener hear that a peer is closed, and if it asks for it, that a direction of it has ended. */
export function listenTo(peer: HeardPeer, listener: PeerListener, isForDirections: boolean): void {
  const emitter = emitterOf(peer);
  peer[LISTENER] = listener;
  emitter.on('close', onClose);
  if (isSession(peer) || !isForDirections) return;
  for (const end of DIRECTION_ENDS) emitter.on(end, onDirectionEnd);
}

/** Has its listener hear, once, that a step of its opening is over. */
export function listenToStep(peer: Peer, step: Opening): void {
  emitterOf(peer).on(step, onOpened);
}

/** Leaves nothing of it on the peer. */
export function unlisten(peer: HeardPeer): void {
  const emitter = emitterOf(peer);
  peer[LISTENER] = undefined;
  emitter.removeListener('close', onClose);
  unlistenToSteps(peer);
  for (const end of DIRECTION_ENDS) emitter.removeListener(end, onDirectionEnd);
}

function unlistenToSteps(peer: Peer): void {
  for (const step of STEPS) emitterOf(peer).removeListener(step, onOpened);
}

function onOpened(this: Peer): void {
  unlistenToSteps(this);
  listenerOf(this)?.opened(this);
}

function onDirectionEnd(this: Peer): void {
  listenerOf(this)?.directionEnded();
}

function onClose(this: Peer): void {
  listenerOf(this)?.closed(this);
}
