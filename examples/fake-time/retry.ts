import { setTimeout as sleep } from 'shardwheel/timers/promises';

/** Calls until a call succeeds, with pauses of 1 s, 2 s, 4 s and so on between; gives up with the last error. */
export async function retry<T>(call: () => Promise<T>, tries = 5): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await call();
    } catch (error) {
      if (tried === tries) throw error;
      await sleep(1000 * 2 ** (tried - 1));
    }
  }
}
