import { show } from '../errors.ts';

/** Why a handle was refused. */
type HandleErrorCode =
  | 'ERR_INVALID_HANDLE'
  | 'ERR_FOREIGN_HANDLE'
  | 'ERR_STALE_HANDLE'
  | 'ERR_ALREADY_CONNECTED'
  | 'ERR_TOO_MANY_CLIENTS';

/** `connectScheduler` cannot connect with this handle. */
export class HandleError extends Error {
  readonly code: HandleErrorCode;
  override readonly name = 'HandleError';

  constructor(code: HandleErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  static forged(value: unknown): HandleError {
    return new HandleError(
      'ERR_INVALID_HANDLE',
      `The handle must be what scheduler.share() returns, got ${show(value)}`,
    );
  }

  static otherVersion(): HandleError {
    const why = 'The handle was made by another version of shardwheel, which lays out its memory differently';
    return new HandleError('ERR_INVALID_HANDLE', `${why}; only threads with the same version can share a scheduler`);
  }

  static foreign(pid: unknown, own: number): HandleError {
    const why = `The handle was made in another process (pid ${show(pid)}; this is ${own})`;
    return new HandleError('ERR_FOREIGN_HANDLE', `${why}; only threads of one process can share a scheduler`);
  }

  static stale(why: string): HandleError {
    return new HandleError('ERR_STALE_HANDLE', `The handle is no longer valid: ${why}`);
  }

  static alreadyConnected(by: string): HandleError {
    const why = `This thread already uses the scheduler: ${by}`;
    return new HandleError('ERR_ALREADY_CONNECTED', `${why}; a thread is one client; pass its scheduler on instead`);
  }

  static tooManyClients(clients: number): HandleError {
    return new HandleError('ERR_TOO_MANY_CLIENTS', `The scheduler has ${clients} clients, the most that it can have`);
  }
}
