import { messageOf, show } from '../../show.ts';

/** A store cannot do what it was asked for: `code` has the reason, `cause` what the engine said. */
export class DurableStoreError extends Error {
  readonly code:
    | 'ERR_STORE_PACKAGE_MISSING'
    | 'ERR_STORE_PACKAGE_FAILED'
    | 'ERR_STORE_CORRUPT'
    | 'ERR_STORE_FULL'
    | 'ERR_STORE_READ_ONLY'
    | 'ERR_STORE_VERSION'
    | 'ERR_STORE_UNREACHABLE'
    | 'ERR_STORE_IN_USE'
    | 'ERR_STORE_GONE'
    | 'ERR_STORE_LOCK_LOST'
    | 'ERR_STORE_NO_BACKUP'
    | 'ERR_STORE_EVICTS'
    | 'ERR_STORE_FAILED';
  override readonly name = 'DurableStoreError';

  constructor(code: DurableStoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** `said` is what the engine said, which the first of the patterns that fits gives a meaning. */
  static of(store: string, meanings: StoreMeanings, said: string, cause: unknown): DurableStoreError {
    const [code, , what] = meanings.find(([, pattern]) => pattern.test(said)) ?? UNKNOWN;
    return new DurableStoreError(code, `${store} ${what}: ${said}`, { cause });
  }

  static inUse(store: string): DurableStoreError {
    const message = `The ${store} is open already: openDurableTimers() takes a store of its own`;
    return new DurableStoreError('ERR_STORE_IN_USE', message);
  }

  static foreign(path: string, cause?: unknown): DurableStoreError {
    const message =
      `The LMDB store ${path} is open in a process of another pid namespace, as that of another container. Processes that share a ` +
      'store must see each other: run them in one pid namespace, give each a folder of its own, or use bullmqStore()';
    return new DurableStoreError('ERR_STORE_IN_USE', message, { cause });
  }

  /** `silence`: ms. */
  static takenOver(path: string, silence: number): DurableStoreError {
    const message =
      `The LMDB store ${path} was taken over by a process of another pid namespace, as this one gave no sign of life for ` +
      `${silence} ms: close the durable timers`;
    return new DurableStoreError('ERR_STORE_LOCK_LOST', message);
  }

  static gone(path: string): DurableStoreError {
    const message = `The LMDB store ${path} is no longer there: its folder was removed, moved or replaced while it was open`;
    return new DurableStoreError('ERR_STORE_GONE', message);
  }

  /** `instead`: what does it for this store. */
  static noBackup(store: string, instead: string): DurableStoreError {
    return new DurableStoreError('ERR_STORE_NO_BACKUP', `${store} has no backup of its own: ${instead}`);
  }

  static lockLost(name: string, key: string): DurableStoreError {
    const message = `Another process has taken the timer ${show(key)} of ${show(name)} from this one while its handler ran`;
    return new DurableStoreError('ERR_STORE_LOCK_LOST', message);
  }

  /** What a store has of a timer cannot be read. */
  static damaged({ name, key }: { readonly name: string; readonly key: string }): DurableStoreError {
    const message = `What is stored of the timer ${show(key)} of ${show(name)} is damaged: cancel it, or schedule it anew`;
    return new DurableStoreError('ERR_STORE_CORRUPT', message);
  }

  /** `policy`: Redis' `maxmemory-policy`. */
  static evicts(queue: string, policy: string): DurableStoreError {
    const message = `Redis may remove timers of the queue ${queue}: its maxmemory-policy is '${policy}'. Set it to 'noeviction'`;
    return new DurableStoreError('ERR_STORE_EVICTS', message);
  }

  /** `close()` has ended, and some of what it asked the store for has not been confirmed. */
  static unknownAtClose(first: unknown, what: readonly string[]): DurableStoreError {
    const code = first instanceof DurableStoreError ? first.code : 'ERR_STORE_FAILED';
    const message = `The durable timers are closed, but it is not known ${what.join('; ')}: ${messageOf(first)}`;
    return new DurableStoreError(code, message, { cause: first });
  }

  /** `found`: the version of the schema in the store. */
  static otherVersion(where: string, found: unknown, known: number): DurableStoreError {
    const message = `The timers in ${where} have schema version ${show(found)}; this version of shardwheel reads ${known}`;
    return new DurableStoreError('ERR_STORE_VERSION', message);
  }
}

/** What texts of an engine mean to the user. */
export type StoreMeanings = readonly (readonly [code: DurableStoreError['code'], pattern: RegExp, what: string])[];
const UNKNOWN: StoreMeanings[number] = ['ERR_STORE_FAILED', /./, 'has failed'];

const payloadErrors = new WeakSet<object>();

/** A payload cannot be stored: nothing was scheduled. Or this process cannot read one: `ERR_PAYLOAD_UNREADABLE`. */
export class PayloadError extends TypeError {
  readonly code: 'ERR_PAYLOAD_TOO_LARGE' | 'ERR_PAYLOAD_NOT_CLONEABLE' | 'ERR_PAYLOAD_UNREADABLE';
  override readonly name = 'PayloadError';

  constructor(code: PayloadError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    payloadErrors.add(this);
  }
}

/** Looks into nothing: what a program gives may be a proxy. */
export const isPayloadError = (value: unknown): value is PayloadError =>
  typeof value === 'object' && value !== null && payloadErrors.has(value);

/** What ends an attempt before its handler does. */
export type AttemptEnding = 'timeout' | 'cancelled' | 'superseded' | 'lost' | 'closed';

const ATTEMPT_ENDINGS = {
  timeout: ['ERR_ATTEMPT_TIMEOUT', 'its handler has not ended within its timeout'],
  cancelled: ['ERR_ATTEMPT_CANCELLED', 'the timer was cancelled'],
  superseded: ['ERR_ATTEMPT_SUPERSEDED', 'the timer was scheduled anew'],
  lost: ['ERR_STORE_LOCK_LOST', 'another process has taken the timer, or may take it'],
  closed: ['ERR_DURABLE_TIMERS_CLOSED', 'the durable timers were closed, and wait no longer'],
} as const satisfies Record<AttemptEnding, readonly [code: string, why: string]>;

/**
 * The reason with which a handler's signal aborts: `code` says what has ended the attempt. At a timeout, also how it
 * has failed.
 */
export class AttemptEndedError extends Error {
  readonly code: (typeof ATTEMPT_ENDINGS)[AttemptEnding][0];
  override readonly name = 'AttemptEndedError';

  constructor(how: AttemptEnding, { name, key }: { readonly name: string; readonly key: string }) {
    const [code, why] = ATTEMPT_ENDINGS[how];
    super(`An attempt of the timer ${show(key)} of ${show(name)} has ended: ${why}`);
    this.code = code;
  }
}

/** A call came after `close()`, or had not ended by then. */
export class DurableTimersClosedError extends Error {
  readonly code = 'ERR_DURABLE_TIMERS_CLOSED';
  override readonly name = 'DurableTimersClosedError';

  /** `call`: its name, if it came after. */
  constructor(call?: string) {
    const what = call === undefined ? 'The' : `${call}() was called after the`;
    super(`${what} durable timers were closed`);
  }
}
