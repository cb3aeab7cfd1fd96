import { isHooked } from '../async-context/async-context.ts';
import type { Client } from '../client/client.ts';
import { REFED, SLOT } from '../client/home/home-timer.ts';
import { CapacityExceededError } from '../errors.ts';
import { timersOf } from './create-timers.ts';
import { defaultClients, ownSource } from './default-timers.ts';
import { Timeout } from './timeout.ts';
import type { TimeoutSource } from './timeout-source.ts';

/** The wheel of a registered thread. */
export type RegisteredWheel = ReturnType<typeof registeredWheel>;

/**
 * Makes it. `isAlways`: as the functions of `shardwheel/timers`; else as Node's, and Node's own function serves in its
 * place where the wheel is full or async hooks are on. `fail` is called when the wheel itself fails: then Node's own
 * function serves as well.
 */
export function registeredWheel(isAlways: boolean, fail: (error: unknown) => void) {
  const setsAside = (own: TimeoutSource): string | undefined => {
    if (isAlways) return undefined;
    if (isHooked()) return 'async hooks are on';
    return own.home.size < own.home.capacity ? undefined : 'the wheel is full';
  };
  const source = () => {
    try {
      const own = ownSource(!isAlways);
      own.isRegistered ||= !isAlways;
      return setsAside(own) === undefined ? own : undefined;
    } catch (error) {
      fail(error); // it could not be made
      return undefined;
    }
  };
  /** Whether Node's own function is to set the timer that the wheel has refused. */
  const isRefused = (error: unknown): boolean => {
    if (isAlways && error instanceof CapacityExceededError) return false;
    fail(error);
    return true;
  };
  return {
    timers: timersOf(source, isRefused),
    /** Makes what the first timer needs. Throws what the system refuses. */
    prepare: () => ownSource(!isAlways).home.prepare(),
    /** Why Node serves a timer that is set now; undefined where the wheel does. */
    setsAside: () => setsAside(ownSource(!isAlways)),
    /** Its live timers. */
    get size() {
      return defaultClients().reduce((sum, { home }) => sum + home.size, 0);
    },
    owns: (handle: unknown): handle is Timeout => handle instanceof Timeout,
    activeResources: (nodes: readonly string[]) => activeResources(nodes, defaultClients()),
  };
}

/**
 * What `process.getActiveResourcesInfo` returns, from what Node's own has found: with a 'Timeout' for each drop-in
 * timeout of these clients that keeps the process alive, as Node lists its own, and without the handles that the
 * clients use for all of them.
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
  const isHeld = running?.[REFED] && running[SLOT] < 0 && Boolean(running._onTimeout);
  return refs.refCount + (isHeld ? 1 : 0);
}
