import type { Client } from '../client/client.ts';
import { SchedulerClosedError } from '../errors.ts';

/** Throws SchedulerClosedError, with the name of the call. V8: known booleans */
export function requireOpen(client: Client, call: string): void {
  if (client.isClosed === true) throwClosed(call);
}

/** @internal */
export function throwClosed(call: string): never {
  throw new SchedulerClosedError(call);
}
