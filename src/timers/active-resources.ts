import { REFED, SLOT } from '../client/home-timer.ts';
import { process } from '../process.ts';
import { defaultSources } from './default-timers.ts';
import type { TimeoutSource } from './timeout-source.ts';

// Node's own method, without its object: it works on any receiver.
const nodes = process.getActiveResourcesInfo;

/**
 * Replaces `process.getActiveResourcesInfo`: with a 'Timeout' for each drop-in timeout that keeps the process alive, as Node
 * lists its own, and without the handles that the schedulers use for all of them.
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

/** Number of timeouts that hold the process; as in Node, each does until its callback has ended or cleared it. */
function refCountOf({ client }: TimeoutSource): number {
  const { running } = client.home;
  const isHeld = running?.[REFED] && running[SLOT] < 0 && running._onTimeout !== null;
  return client.hold.refCount + (isHeld ? 1 : 0);
}
