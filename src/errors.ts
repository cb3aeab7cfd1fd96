import { show } from './show.ts';

/** A deadline or delay is not finite, or the wheel's policy refuses it. */
export class InvalidDeadlineError extends RangeError {
  readonly code = 'ERR_INVALID_DEADLINE';
  override readonly name = 'InvalidDeadlineError';
  readonly deadline: unknown;

  constructor(deadline: unknown, reason = 'must be a finite number', what = 'deadline') {
    super(`The ${what} ${reason}, got ${show(deadline)}`);
    this.deadline = deadline;
  }
}

/** A deadline is at or beyond the wheel's upper bound, and the wheel has no overflow list. */
export class DeadlineTooFarError extends RangeError {
  readonly code = 'ERR_DEADLINE_TOO_FAR';
  override readonly name = 'DeadlineTooFarError';
  readonly deadline: number;
  readonly upperBound: number;

  constructor(deadline: number, upperBound: number) {
    super(`The deadline must be less than the wheel's upper bound ${upperBound}, got ${show(deadline)}`);
    this.deadline = deadline;
    this.upperBound = upperBound;
  }
}

/**
 * There is no room for another timer. Live timers are unaffected; `schedule` works again as soon as a timer has ended.
 */
export class CapacityExceededError extends Error {
  readonly code = 'ERR_CAPACITY_EXCEEDED';
  override readonly name = 'CapacityExceededError';
  readonly capacity: number;
  /** The shard that is full; undefined for a wheel on its own, and for drop-in timers. */
  readonly shard: number | undefined;

  constructor(capacity: number, shard?: number, full = shard === undefined ? 'The wheel' : `Shard ${shard}`) {
    super(`${full} already holds its capacity of ${capacity} timers`);
    this.capacity = capacity;
    this.shard = shard;
  }
}

/** An option or a wheel configuration is invalid. */
export class InvalidConfigError extends RangeError {
  readonly code = 'ERR_INVALID_CONFIG';
  override readonly name = 'InvalidConfigError';

  constructor(option: string, requirement: string, value: unknown) {
    super(`${option} ${requirement}, got ${show(value)}`);
  }
}

/**
 * An argument has the wrong type: a hint that is neither a number nor a string, a callback that is not a function, …
 */
export class InvalidArgumentError extends TypeError {
  readonly code = 'ERR_INVALID_ARG_TYPE';
  override readonly name = 'InvalidArgumentError';

  constructor(argument: string, requirement: string, value: unknown) {
    super(`The ${argument} ${requirement}, got ${show(value)}`);
  }
}

const KEEP_OUT = "keep shardwheel out of the bundle (external: ['shardwheel']) and install it where the program runs";

/** A file of this package was not found: a bundler has moved the package's code away from its files. */
export class MissingFileError extends Error {
  readonly code = 'ERR_MISSING_FILE';
  override readonly name = 'MissingFileError';

  constructor(what: string, folders: readonly string[], remedy: string) {
    const where = folders.length === 0 ? 'anywhere' : `from ${folders.join(', ')}`;
    super(`${what} was not found ${where}: ${remedy}. See docs/install.md`);
  }

  static worker(folders: readonly string[]): MissingFileError {
    const build =
      "or build 'shardwheel/worker' as a separate entry and name its file " +
      "(createScheduler({ thread: { workerUrl: new URL('./worker.js', import.meta.url) } }))";
    return new MissingFileError("The file of shardwheel's threads", folders, `${KEEP_OUT}; ${build}`);
  }

  /** A package that only threads need, and that is loaded when one is wanted, from outside any bundle. */
  static ofPackage(name: string, folders: readonly string[]): MissingFileError {
    const remedy = `shards need it for their threads: keep it out of the bundle (external: ['${name}']) and install it where the program runs`;
    return new MissingFileError(`The package '${name}'`, folders, remedy);
  }

  static wheel(folders: readonly string[]): MissingFileError {
    return new MissingFileError("The file of shardwheel's drop-in timers", folders, KEEP_OUT);
  }

  static page(folders: readonly string[]): MissingFileError {
    return new MissingFileError("The dashboard's page", folders, KEEP_OUT);
  }
}

/**
 * What stands on the inner parts of Node does not work on another runtime, and what threads share not without shared
 * memory.
 */
export class UnsupportedRuntimeError extends Error {
  readonly code = 'ERR_UNSUPPORTED_RUNTIME';
  override readonly name = 'UnsupportedRuntimeError';

  static otherThanNode(what: string, runtime: string, remedy: string): UnsupportedRuntimeError {
    const why = `${what} needs Node.js, and does not work on ${runtime}: ${remedy}`;
    return new UnsupportedRuntimeError(`${why}. See docs/install.md`);
  }

  static withoutSharedMemory(what: string): UnsupportedRuntimeError {
    const remedy = 'start Node.js without --enable-sharedarraybuffer-per-context';
    return new UnsupportedRuntimeError(`${what} needs SharedArrayBuffer, which is missing: ${remedy}`);
  }
}

/** A call came after `close()`, or was pending when `close()` was called. */
export class SchedulerClosedError extends Error {
  readonly code = 'ERR_SCHEDULER_CLOSED';
  override readonly name = 'SchedulerClosedError';

  constructor(call: string, what: 'was called after' | 'was pending when' = 'was called after') {
    super(`${call}() ${what} the scheduler was closed`);
  }
}

/** A shard's thread was ended because it took no turn for too long although one was due. */
export class ShardHungError extends Error {
  readonly code = 'ERR_SHARD_HUNG';
  override readonly name = 'ShardHungError';
  readonly shard: number;

  /** `silence` in ms. */
  constructor(shard: number, silence: number) {
    super(`The thread of shard ${shard} has shown no sign of life for ${silence} ms`);
    this.shard = shard;
  }
}

/**
 * A shard runs in the calling thread from now on, until `close()`: its threads died too often, or threads may not be
 * started. Its timers fire as before. `cause` is what ended the last thread, or prevented the first.
 */
export class ShardInlineError extends Error {
  readonly code = 'ERR_SHARD_INLINE';
  override readonly name = 'ShardInlineError';
  /** Undefined if the error concerns all shards. */
  readonly shard: number | undefined;

  constructor(shard: number | undefined, message: string, cause: Error) {
    super(message, { cause });
    this.shard = shard;
  }

  static afterDeaths(shard: number, deaths: number, cause: Error): ShardInlineError {
    const times = deaths === 1 ? '1 death' : `${deaths} deaths`;
    const why = `The threads of shard ${shard} died too often (${times}, the last by ${cause.name}: ${cause.message})`;
    return new ShardInlineError(shard, `${why}; it goes on inline, in the calling thread`, cause);
  }

  /** The owner of a shared scheduler has given up on threads. */
  static givenUp(shard: number): ShardInlineError {
    const cause = new Error('The owner of the shared scheduler no longer starts threads for it');
    const message = `Shard ${shard} goes on inline, in the calling thread: ${cause.message}`;
    return new ShardInlineError(shard, message, cause);
  }

  /** The shared scheduler has ended: its clients go on, each in its own thread. */
  static withoutOwner(how: string): ShardInlineError {
    const cause = new Error(how);
    return new ShardInlineError(undefined, `All shards now run inline, in the calling thread: ${how}`, cause);
  }

  /** A file or package that threads need was not found. */
  static withoutWorker(cause: Error): ShardInlineError {
    return ShardInlineError.ofAll(': no thread can be started', cause);
  }

  /** This process may not start threads. */
  static withoutPermission(): ShardInlineError {
    const remedy = 'allow them with --allow-worker, or ask for none with createScheduler({ shards: 0 })';
    const cause = new Error(`The permission model is on (--permission): ${remedy}`);
    return ShardInlineError.ofAll(': this process may not start threads', cause);
  }

  /** There is no memory that threads could share. */
  static withoutSharedMemory(): ShardInlineError {
    return ShardInlineError.ofAll('', UnsupportedRuntimeError.withoutSharedMemory('A thread'));
  }

  private static ofAll(why: string, cause: Error): ShardInlineError {
    const message = `All shards run inline, in the calling thread${why}. ${cause.message}`;
    return new ShardInlineError(undefined, message, cause);
  }
}

/**
 * A shard could not serve this client, in its thread or inline, usually because memory was refused; `cause` has the
 * reason. Its index is rebuilt from the tables, with retries until that succeeds. Meanwhile its timers are late; none
 * is lost.
 */
export class ShardFailedError extends Error {
  readonly code = 'ERR_SHARD_FAILED';
  override readonly name = 'ShardFailedError';
  readonly shard: number;

  constructor(shard: number, cause: Error) {
    const what = `Shard ${shard} has failed (${cause.name}: ${cause.message})`;
    super(`${what}; its timers wait until it has been rebuilt`, { cause });
    this.shard = shard;
  }
}

/** The system refused memory for timers. `capacity` and `shards` decide how much a scheduler requests. */
export class AllocationError extends RangeError {
  readonly code = 'ERR_ALLOCATION_FAILED';
  override readonly name = 'AllocationError';
  readonly bytes: number;

  constructor(bytes: number, cause: Error) {
    const why = `The system has refused ${bytes} bytes of memory for timers (${cause.message})`;
    super(`${why}; options.capacity and options.shards decide how much is requested`, { cause });
    this.bytes = bytes;
  }
}

/** The work took longer than its time limit. */
export class TimeoutError extends Error {
  readonly code = 'ERR_TIMEOUT';
  override readonly name = 'TimeoutError';
  /** The time limit in ms. */
  readonly delay: number;
  /** The name of the label with which it was set; undefined where there was none. */
  readonly label: string | undefined;

  constructor(delay: number, label?: string) {
    const kind = label === undefined ? '' : ` ('${label}')`;
    super(`Timed out after ${show(delay)} ms${kind}`);
    this.delay = delay;
    this.label = label;
  }
}

/**
 * A signal ended the wait, or a call that cancelled its timer, alone or with its group; `cause` is the signal's reason.
 * Name and code are those of Node's own AbortError, and with a signal its message too, unless the reason is a deadline:
 * then it says which.
 */
export class AbortError extends Error {
  readonly code = 'ABORT_ERR';
  override readonly name = 'AbortError';

  constructor(reason: unknown, why = byDeadline(reason)) {
    super(`The operation was aborted${why}`, { cause: reason });
  }

  /** How its timer was ended. */
  static by(how: 'cancelled' | 'cancelled with its group'): AbortError {
    return new AbortError(undefined, `: its timer was ${how}`);
  }
}

/**
 * What a reason says of a signal that was bounded in time, Node's own included; '' of any other. Its traps and getters
 * may throw.
 */
function byDeadline(reason: unknown): string {
  try {
    const isDeadline = reason instanceof Error && reason.name === 'TimeoutError';
    return isDeadline ? ` by an outer deadline: ${reason.message}` : '';
  } catch {
    return ''; // its own code has thrown
  }
}

/** A call or property that no longer exists was used. The message names what has replaced it. */
export class RenamedError extends TypeError {
  readonly code = 'ERR_RENAMED';
  override readonly name = 'RenamedError';

  constructor(old: string, now: string) {
    super(`${old} is no more: ${now}`);
  }
}
