import type { TimerId } from './timer-id.ts';

/** Ways in which a call has ended a timer. */
export type Cancelling = 'cancelled' | 'cancelled with its group';
/**
 * How a timer has ended for whoever waits for it. The fifth way, with its client's thread, leaves nobody to be told.
 */
export type WaitEnd = 'delivered' | Cancelling | 'handed back';

/** The parts of a client that a waiter needs. */
interface WaiterClient {
  readonly isClosed: boolean;
  /** Live timers that somebody waits for. */
  waiters: number;
  readonly refs: { adjustUnref(by: number): void };
  cancel(id: TimerId): boolean;
}

/**
 * A waiter's timer has been started, as the last step of the call that starts it. `ref`: whether its label lets timers
 * hold the process; if not, the label counts it.
 */
export let beginWait: (waiter: Waiter, client: WaiterClient, id: TimerId, ref: boolean) => void;
/** A waiter's timer has ended. Does nothing if the waiter has left it since. */
export let endWait: (waiter: Waiter, id: TimerId, how: WaitEnd) => void;

/**
 * The argument of a timer whose callback is `awaited`: it is told how its timer ends, whoever ends it. It is known by a
 * private field, which no proxy and no object of the program has, so nothing else is asked to know it.
 *
 *     awaited, waiter ─▶ schedule ─▶ begun ─▶ letGo ─▶ ended('delivered' | 'cancelled' | …)
 *                                               ╰─ by its own `leave`, and no more
 *
 * What `close` has handed back may be scheduled anew, in another scheduler: then it begins again. It has one timer at a
 * time, the latest.
 *
 * It stands in the base since durable timers wait as well, a hundred thousand at a time. The public calls that tell of
 * every end cost a promise or a signal each, some ten times the memory; a callback hears of deliveries alone
 * (docs/adr/0032-whoever-waits-hears.md).
 */
export abstract class Waiter {
  /** The call of the program that waits, for messages and lists. */
  abstract readonly call: string;
  /** Whether its promise is settled where `close` hands its timer back, so that this needs no further work. */
  abstract readonly isSettledByClose: boolean;
  /** The client that has its timer; undefined while it has none. */
  #client: WaiterClient | undefined = undefined;
  #id: TimerId = Number.NaN;
  /** Whether its timers hold the process, unless their label says that they do not. */
  readonly #holds: boolean;
  /** Whether it has counted its timer as one that does not. */
  #isCounted = false;

  static {
    beginWait = (waiter, client, id, ref) => {
      waiter.#release();
      waiter.#client = client;
      waiter.#id = id;
      client.waiters += 1;
      waiter.#isCounted = ref && !waiter.#holds;
      if (waiter.#isCounted) client.refs.adjustUnref(1);
      waiter.begun();
    };
    endWait = (waiter, id, how) => {
      if (waiter.#client !== undefined && waiter.#id === id) {
        waiter.#release();
        waiter.ended(how);
      }
    };
  }

  constructor(holds = true) {
    this.#holds = holds;
  }

  static is(value: unknown): value is Waiter {
    return typeof value === 'object' && value !== null && #client in value;
  }

  /** Cancels its timer, and hears nothing of it. Returns whether it was live. */
  leave(): boolean {
    const client = this.#client;
    if (client === undefined) return false;
    this.#release();
    return !client.isClosed && client.cancel(this.#id);
  }

  /** Its timer has been started. */
  protected begun(): void {}
  /** It has no timer any more, whoever has ended it: it lets go of all that only a timer needs. */
  protected abstract letGo(): void;
  /** Others have ended its timer. Called after `letGo`. */
  protected abstract ended(how: WaitEnd): void;

  #release(): void {
    const client = this.#client;
    if (client === undefined) return;
    this.#client = undefined;
    client.waiters -= 1;
    if (this.#isCounted) client.refs.adjustUnref(-1);
    this.letGo();
  }
}

/** The callback of every timer that is waited for. */
export const awaited = (waiter: unknown, id: TimerId): void => {
  if (Waiter.is(waiter)) endWait(waiter, id, 'delivered');
};
