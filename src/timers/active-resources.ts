import process from 'node:process';
import { defaultSources } from './default-timers.ts';
import type { TimeoutSource } from './timeout-source.ts';

// The bare method of Node's, of which it does not matter what it is called on.
const nodes = process.getActiveResourcesInfo;

/**
 * In place of `process.getActiveResourcesInfo`: with a 'Timeout' for each timeout of the face that keeps the process alive, as
 * Node lists its own, and without what the face's schedulers have taken of Node for all of them.
 */
export const activeResources = Object.defineProperties(
  (): string[] => {
    const sources = defaultSources();
    const timeouts = sources.reduce((sum, source) => sum + refCountOf(source), 0);
    const found = nodes();
    for (const name of sources.flatMap(({ client }) => client.heldResources())) {
      const at = found.indexOf(name);
      if (at >= 0) found.splice(at, 1);
    }
    const isLast = (name: string) => name === 'Immediate';
    const ours = Array.from({ length: timeouts }, () => 'Timeout');
    return [...found.filter((name) => !isLast(name)), ...ours, ...found.filter(isLast)];
  },
  { name: { value: nodes.name }, length: { value: nodes.length } },
);

/** Timeouts that hold the process; as in Node, one does until its callback has ended. */
function refCountOf({ client, due }: TimeoutSource): number {
  return client.hold.refCount + due.unfinished().filter((timeout) => timeout.hasRef() && !timeout._destroyed).length;
}
