import { process } from '../process.ts';

/** Makes the error an uncaught exception as soon as this call's caller is done, in the context of this call. */
export function throwUncaught(error: unknown): void {
  process.nextTick(rethrow, error);
}

const rethrow = (error: unknown): never => {
  throw error;
};
