import * as node from 'node:timers';
import * as nodePromises from 'node:timers/promises';
import { register, unregister } from 'shardwheel/register';
import * as shardwheel from 'shardwheel/timers';
import * as shardwheelPromises from 'shardwheel/timers/promises';
import type { SubjectEntry } from '../../engine/suite.ts';

/** The functions that two modules of timers have in common. */
export interface Face {
  readonly setTimeout: typeof node.setTimeout;
  readonly clearTimeout: typeof node.clearTimeout;
  readonly setInterval: typeof node.setInterval;
  readonly clearInterval: typeof node.clearInterval;
  readonly sleep: typeof nodePromises.setTimeout;
}

export const NODE = 'node:timers';
export const OURS = 'shardwheel/timers';
export const REGISTERED = 'registered';

/** Who takes part in the suites of this area. */
export const bothFaces: readonly SubjectEntry[] = [
  { name: NODE },
  { name: OURS, note: 'the module as it is imported, on the scheduler that it makes for itself' },
];

/** The same, and a registered program, which Node's own timers serve while it has few. */
export const allFaces: readonly SubjectEntry[] = [
  ...bothFaces,
  { name: REGISTERED, note: "the global functions with --import shardwheel/register: Node's own timers, counted" },
];

const registered = { ...functionsOf(globalThis), sleep: nodePromises.setTimeout }; // the import has registered
unregister();

const faces: Readonly<Record<string, Face>> = {
  [REGISTERED]: registered,
  [NODE]: { ...functionsOf(node), sleep: nodePromises.setTimeout },
  [OURS]: { ...functionsOf(shardwheel), sleep: shardwheelPromises.setTimeout },
};

export function faceOf(name: string): Face {
  const face = faces[name];
  if (face === undefined) throw new Error(`no face is named ${name}`);
  if (name === REGISTERED) register();
  else unregister();
  return face;
}

function functionsOf(module: Omit<Face, 'sleep'>): Omit<Face, 'sleep'> {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = module;
  return { setTimeout, clearTimeout, setInterval, clearInterval };
}
