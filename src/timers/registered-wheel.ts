import { isHooked } from '../async-context/async-context.ts';
import { activeResources } from './active-resources.ts';
import { type Timers, timersOf } from './create-timers.ts';
import { defaultClients, sourceFor } from './default-timers.ts';
import { Timeout } from './timeout.ts';

/** The wheel of a registered thread. */
export interface RegisteredWheel {
  readonly timers: Timers;
  /** Its live timers. */
  readonly size: number;
  owns(handle: unknown): handle is Timeout;
  /** See there. */
  activeResources(nodes: readonly string[]): string[];
}

/**
 * Makes it. `isAlways`: as the functions of `shardwheel/timers`; else as Node's, and Node's own function serves in its place where the
 * wheel is full or async hooks are on.
 */
export function registeredWheel(isAlways: boolean): RegisteredWheel {
  const source = () => {
    const own = sourceFor(!isAlways);
    return isAlways || (own.home.size < own.home.capacity && !isHooked()) ? own : undefined;
  };
  return {
    timers: timersOf(source),
    get size() {
      return defaultClients().reduce((sum, { home }) => sum + home.size, 0);
    },
    owns: (handle) => handle instanceof Timeout,
    activeResources: (nodes) => activeResources(nodes, defaultClients()),
  };
}
