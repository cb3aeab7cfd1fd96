import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import type { Verdict } from '../targets.ts';
import type { Comparison } from './comparison.ts';
import type { Versions } from './peer-packages.ts';

export interface Results {
  /** When the run began, ISO 8601. */
  readonly date: string;
  readonly command: string;
  readonly machine: {
    readonly cpu: string;
    readonly cpus: number;
    readonly memory: string;
    readonly system: string;
    readonly node: string;
  };
  /** Versions of the packages that are measured beside; older results have none. */
  readonly packages?: Versions;
  /** What a reader has to know. */
  readonly remark?: string;
  readonly rounds: number;
  readonly quick: boolean;
  readonly seconds: number;
  readonly comparisons: readonly Comparison[];
  readonly targets: readonly Verdict[];
}

/** Results of the same suites on several releases of Node, by their first number: one file holds them all. */
export type ReleaseResults = Readonly<Record<string, Results>>;

export const machine = (): Results['machine'] => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cpus: availableParallelism(),
  memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
  system: `${type()} ${release().split('-')[0]}`,
  node: process.version,
});

export const describeProcessor = ({ cpu, cpus: count }: Results['machine']): string =>
  `${count} × ${cpu.replace(/\(R\)| Processor/g, '')}`;

export const describeMachine = (machine: Results['machine']): string =>
  `${describeProcessor(machine)}, ${machine.memory}, ${machine.system.split('-')[0]}, Node ${machine.node.slice(1)}`;
