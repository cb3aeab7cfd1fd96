import * as node from 'node:timers';
import * as nodePromises from 'node:timers/promises';
import * as shardwheel from 'shardwheel/timers';
import * as shardwheelPromises from 'shardwheel/timers/promises';
import type { SubjectEntry } from '../suite.ts';
import type { Target } from '../target.ts';

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

/** Who takes part in the suites of this area. */
export const bothFaces: readonly SubjectEntry[] = [
  { name: NODE },
  { name: OURS, note: 'the module as it is imported, on the scheduler that it makes for itself' },
];

/** A bound on what the face takes, as a multiple of what Node takes. */
export const faceTarget = (suite: string, figure: string, most: number): Target => ({
  title: `(k) ${suite.replace('faces ', '')}: ${figure}`,
  suite,
  subject: OURS,
  figure,
  most,
  unit: '',
  of: `${OURS} / ${NODE}`,
});

const faces: Readonly<Record<string, Face>> = {
  [NODE]: { ...functionsOf(node), sleep: nodePromises.setTimeout },
  [OURS]: { ...functionsOf(shardwheel), sleep: shardwheelPromises.setTimeout },
};

export function faceOf(name: string): Face {
  const face = faces[name];
  if (face === undefined) throw new Error(`no face is named ${name}`);
  return face;
}

function functionsOf(module: Omit<Face, 'sleep'>): Omit<Face, 'sleep'> {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = module;
  return { setTimeout, clearTimeout, setInterval, clearInterval };
}
