import { readdirSync, readFileSync } from 'node:fs';

/** Of Linux: how many ticks of /proc make a second. */
const TICKS = 100;

interface ProcessState {
  readonly pid: number;
  readonly parent: number;
  /** s of CPU, user and system. */
  readonly cpu: number;
  readonly isRenderer: boolean;
}

function stateOf(pid: number): ProcessState | undefined {
  try {
    // What follows the name, which is in parentheses and may hold anything: state, parent, …
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const isRenderer = readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--type=renderer');
    return { pid, parent: Number(fields[1]), cpu: (Number(fields[11]) + Number(fields[12])) / TICKS, isRenderer };
  } catch {
    return undefined; // it has ended meanwhile
  }
}

/** Seconds of CPU that a process, what it has started, and the renderers among those, have taken. */
export function cpuBelow(ancestor: number): { all: number; renderers: number } {
  const states = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => stateOf(Number(name)) ?? []);
  const below = new Set([ancestor]);
  for (let before = 0; before < below.size; ) {
    before = below.size;
    for (const { parent, pid } of states) if (below.has(parent)) below.add(pid);
  }
  const own = states.filter(({ pid }) => below.has(pid));
  const sum = (some: readonly ProcessState[]): number => some.reduce((total, { cpu }) => total + cpu, 0);
  return { all: sum(own), renderers: sum(own.filter(({ isRenderer }) => isRenderer)) };
}
