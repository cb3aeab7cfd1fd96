import { parentPort } from 'node:worker_threads';
import { expose } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';

/** What every thread of `EventLoops` answers to. */
export interface Leaving {
  /** No more calls will come: they keep the thread no longer. */
  leave(): Promise<void>;
}

/**
 * Answers the calls that the starter of this thread makes through its `EventLoops`. Precondition: it is such a thread.
 */
export function serveCalls(calls: object): void {
  const port = parentPort!;
  expose(Object.assign(calls, { leave: async () => port.unref() }), nodeEndpoint(port));
}

/** Tells the starter of this thread something that it has not asked for. */
export const tell = (news: unknown): void => parentPort!.postMessage({ news });
