import type { LaneServer } from '../shard/lane-server.ts';
import type { ServerState } from '../sharing/board.ts';

/** The answer of a call to a thread that has ended, or no longer serves the shard. */
export const GONE = Symbol('the thread is gone');

/** The calls of a client to what serves its lanes, wherever that is. */
export type HostCall = 'stats' | 'wheels' | 'nextDue';
export type HostAnswer<C extends HostCall> = ReturnType<LaneServer[C]>;

/** The calls of a client to the thread of a shard: those of `LaneServer`, without the client's serial. */
export type LaneCall = HostCall | 'attach' | 'handOver';
export type Given<C extends LaneCall> = Parameters<LaneServer[C]> extends [number, ...infer Rest] ? Rest : never;
export type LaneAnswer<C extends LaneCall> = ReturnType<LaneServer[C]> | typeof GONE;

/**
 * The way from a client to the threads of a shard: its owner's is the `ThreadKeeper`, that of any other thread a
 * `MailLink`.
 */
export interface LaneLink {
  /** What serves the shard, as its owner has stored it. */
  server(): ServerState;
  /** Makes the owner start a thread, if there is none. */
  want(): void;
  /**
   * Calls the thread of an epoch. Resolves with GONE if it ends first. Rejects with the thread's error; a call that
   * moves lanes rejects only if the thread has not been asked.
   */
  call<C extends LaneCall>(epoch: number, name: C, ...given: Given<C>): Promise<LaneAnswer<C>>;
  /** Called when the client has found that the thread that had its lanes is gone. */
  lost(): void;
  /** Called when a thread that goes on has handed the client's lanes back. */
  handedBack(): void;
  /** Called when the thread had no memory for lanes. Returns whether it is ended for this. */
  refused(error: Error): boolean;
  /** Ends all calls, and what is the client's own. Never rejects. */
  release(): Promise<void>;
  /** Number of threads of the shard that have died, as far as the client had to do with them. */
  readonly deaths: number;
  /** What ended the last of them. */
  readonly cause: Error;
}

/** The link of a scheduler that has no threads: each client serves its own lanes. */
export const noThreads: LaneLink & { watch(onChange: (server: ServerState) => void): void } = {
  server: () => ({ by: 'clients' }),
  watch: (onChange) => onChange({ by: 'clients' }),
  want: () => undefined,
  call: () => Promise.resolve(GONE),
  lost: () => undefined,
  handedBack: () => undefined,
  refused: () => false,
  release: () => Promise.resolve(),
  deaths: 0,
  cause: new Error('There are no threads'),
};
