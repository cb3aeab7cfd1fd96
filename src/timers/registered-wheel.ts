import { isHooked } from '../async-context/async-context.ts';
import type { Client } from '../client/client.ts';
import { REFED, SLOT } from '../client/home-wheel.ts';
import { timersOf } from './create-timers.ts';
import { defaultClients, sourceFor } from './default-timers.ts';
import { Timeout } from './timeout.ts';

/** The wheel of a registered thread. */
export type RegisteredWheel = ReturnType<typeof registeredWheel>;

/**
 * Makes it. `isAlways`: as the functions of `shardwheel/timers`; else as Node's, and Node's own function serves in its place where the
 * wheel is full or async hooks are on.
 */
export function registeredWheel(isAlways: boolean) {
  const source = () => {
    const own = sourceFor(!isAlways);
    return isAlways || (own.home.size < own.home.capacity && !isHooked()) ? own : undefined;
  };
  return {
    timers: timersOf(source),
    /** Its live timers. */
    get size() {
      return defaultClients().reduce((sum, { home }) => sum + home.size, 0);
    },
    owns: (handle: unknown): handle is Timeout => handle instanceof Timeout,
    activeResources: (nodes: readonly string[]) => activeResources(nodes, defaultClients()),
  };
}

/**
 * What `process.getActiveResourcesInfo` returns, from what Node's own has found: with a 'Timeout' for each drop-in timeout of these
 * clients that keeps the process alive, as Node lists its own, and without the handles that the clients use for all of them.
 */
function activeResources(nodes: readonly string[], clients: readonly Client[]): string[] {
  const found = [...nodes];
  for (const name of clients.flatMap((client) => client.heldResources())) {
    const at = found.indexOf(name);
    if (at >= 0) found.splice(at, 1);
  }
  const timeouts = clients.reduce((sum, client) => sum + refCountOf(client), 0);
  const isLast = (name: string) => name === 'Immediate';
  const ours = Array.from({ length: timeouts }, () => 'Timeout');
  return [...found.filter((name) => !isLast(name)), ...ours, ...found.filter(isLast)];
}

/** Number of timeouts that hold the process; as in Node, each does until its callback has ended or cleared it. */
function refCountOf({ refs, home }: Client): number {
  const { running } = home;
  const isHeld = running?.[REFED] && running[SLOT] < 0 && running._onTimeout !== null;
  return refs.refCount + (isHeld ? 1 : 0);
}
