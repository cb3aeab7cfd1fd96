import { defaultClients } from './default-timers.ts';

// The bare method of Node's, of which it does not matter what it is called on.
const nodes = process.getActiveResourcesInfo;

/**
 * In place of `process.getActiveResourcesInfo`: with a 'Timeout' for each timeout of the face that keeps the process alive, as
 * Node lists its own, and without what the face's schedulers have taken of Node for all of them.
 */
export const activeResources = Object.defineProperties(
  (): string[] => {
    const clients = defaultClients();
    const timeouts = clients.reduce((sum, client) => sum + client.hold.refCount, 0);
    const found = nodes();
    for (const name of clients.flatMap((client) => client.heldResources())) {
      const at = found.indexOf(name);
      if (at >= 0) found.splice(at, 1);
    }
    const isLast = (name: string) => name === 'Immediate';
    const ours = Array.from({ length: timeouts }, () => 'Timeout');
    return [...found.filter((name) => !isLast(name)), ...ours, ...found.filter(isLast)];
  },
  { name: { value: nodes.name }, length: { value: nodes.length } },
);
