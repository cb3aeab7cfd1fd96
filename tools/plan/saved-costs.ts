import { readFileSync } from 'node:fs';
import { UsageError } from '../../bench/replay/command-line.ts';
import { type Costs, services } from './costs.ts';
import { liveTimers, type PlannedLoad, timersSignature } from './planned-load.ts';

/** Reads the file of `--save-costs`. Throws `UsageError` if it is for other timers than these, or cannot be read. */
export function readCosts(file: string, { timers }: PlannedLoad): Costs {
  const costs = parse(file);
  if (services.some((service) => costs?.services?.[service]?.loop === undefined)) {
    throw new UsageError(`${file} contains no costs: it must be a file that --save-costs has written`);
  }
  if (costs.timers !== timersSignature(timers)) {
    throw new UsageError(
      `the costs in ${file} are for other timers (${costs.timers}): measure these, with --save-costs ${file}`,
    );
  }
  return costs;
}

function parse(file: string): Costs {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`cannot read the costs in ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What to know of costs that were measured with another number of live timers than the plan has. */
export function remarkOnLive({ live }: Costs, load: PlannedLoad, loops: number): string | undefined {
  const planned = liveTimers(load) / loops;
  const isNear = planned < live * 2 && planned > live / 2;
  const isLarge = live > 500_000 && planned > live;
  if (isNear || isLarge) return undefined;
  const [has, had] = [planned, live].map((value) => Math.round(value).toLocaleString('en-US'));
  return `The costs were measured with ${had} live timers on an event loop, and here there are ${has}: with more of them each costs more.`;
}
