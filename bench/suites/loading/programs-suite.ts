import type { Scale, Suite } from '../../engine/suite.ts';
import { byTurns } from './by-turns.ts';
import { reportAtExit } from './exit-report.ts';
import { type Figures, figuresOfProcess, figuresOfProgram } from './spawned.ts';

const flagsOf: Readonly<Record<string, readonly string[]>> = {
  plain: [],
  registered: ['--import', 'shardwheel/register'],
};

interface Part {
  /** Processes of each subject in a round. */
  readonly times: number;
  readonly measure: (flags: readonly string[], scale: Scale) => Promise<Figures>;
}

/** `warmUp`: slices until all is compiled. Then 10 are measured. */
const program = (name: string, warmUp: number): Part => ({
  times: 5,
  measure: (flags, { quick }) =>
    figuresOfProgram('program-process', [name, ...(quick ? ['0', '1'] : [String(warmUp), '10'])], flags),
});

/** Each part measures the figure of its name. */
const parts: Readonly<Record<string, Part>> = {
  gateway: program('gateway', 12),
  commands: program('commands', 3),
  process: {
    times: 20,
    measure: async (flags) => {
      const { cpu } = await figuresOfProcess([...flags, '-e', `${reportAtExit} setTimeout(() => {}, 1);`]);
      return { process: cpu };
    },
  },
  worker: { times: 7, measure: (flags) => figuresOfProgram('worker-process', [], flags) },
};

/** (p) Whole programs whose timers are ours without a line of theirs, beside the same as they are. */
export const programsSuite: Suite = {
  name: 'loading programs',
  title: 'Loading: whole programs, plain and registered',
  codes: ['p', 'loading'],
  about:
    'Each in a process of its own, by turns; medians of 5 processes, of 20 of the short-lived and 7 that start a thread. Gateway: fastify in front, undici to a ' +
    'fastify upstream, 50 requests under way, each with a timeout of 30 s that is cleared; 10,000 requests. Commands: ioredis with a ' +
    'commandTimeout of 10 s each, 2,000 under way on a socket; 200,000 commands. Clients and upstreams are in the process, and what ' +
    'comes before all is compiled is left out. A short-lived process sets one timer of 1 ms. A thread: from new Worker to its first message.',
  base: 'plain',
  subjects: [{ name: 'plain' }, { name: 'registered', note: '--import shardwheel/register' }],
  figures: [
    { key: 'gateway', title: 'process CPU per request', unit: 'ns' },
    { key: 'commands', title: 'process CPU per command', unit: 'ns' },
    { key: 'process', title: 'process CPU of a short-lived process', unit: 'ms' },
    { key: 'worker', title: 'start of a thread', unit: 'ms' },
  ],
  parts: Object.keys(parts),
  ...byTurns(
    ({ quick }, part) => (quick ? 1 : parts[part].times),
    (subject, part, scale) => parts[part].measure(flagsOf[subject], scale),
  ),
};
