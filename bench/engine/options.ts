import { Command } from 'commander';
import { number, readFlags, UsageError } from '../replay/command-line.ts';
import { nodeRelease } from '../replay/node-release.ts';
import { suites } from '../suites.ts';
import { targets } from '../targets.ts';
import { select, selectTargeted } from './selection.ts';
import type { Suite } from './suite.ts';

export interface Options {
  readonly suites: readonly Suite[];
  readonly rounds: number;
  readonly quick: boolean;
  /** Where the results go instead of to bench/results. */
  readonly json?: string;
  /** A file of results by release of Node, which gets these as well. */
  readonly byRelease?: string;
  /** What a reader of the results has to know. */
  readonly remark?: string;
  /** The release of Node that is to run it. */
  readonly node?: string;
}

/** Targets hold for medians of this many interleaved rounds. */
const ROUNDS = 5;

const suiteLines = suites.map(({ name, codes, title }) => `  ${name.padEnd(20)} ${codes[0].padEnd(4)} ${title}`);

const help = `
Words pick what to measure: an area, a workload, a code, or a subject:
${suiteLines.join('\n')}

Examples:
  npm run bench                          everything, ${ROUNDS} rounds, with the table of targets; an hour and more
  npm run bench -- wheel churn           one workload
  npm run bench -- W2 W3 default         two codes, and of the subjects only the default wheel and what it is held against
  npm run bench -- clients               event loops that share shards; two to three minutes
  npm run bench -- rates                 what timers cost from 10 to a million a second; ten minutes a round
  npm run bench -- rates pairs           of these the timeouts that are cancelled; \`rates fires-1000/s\` one rate
  npm run bench -- faces                 drop-in timers beside Node's; five minutes
  npm run bench -- runtimes              timers of Node's releases, Bun, Deno and undici; two minutes a round
  npm run bench -- steering              labels, scaled timers and metrics; two minutes a round
  npm run bench -- programs              whole programs on Node's timers and on ours; three minutes a round
  npm run bench -- loading               import, preload, threads and first timer, each in processes of their own; three minutes a round
  npm run bench -- --targets               what the table of targets needs; a quarter of an hour
  npm run bench -- --targets --node 24     the same on Node 24, whatever runs this
  npm run bench -- scheduler --quick     small sizes, one round: does it work at all?`;

/** Reads the flags. Returns undefined where `--help` was asked for and answered; throws UsageError. */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const command = new Command('npm run bench --')
    .description('Measures shardwheel against a yardstick and its peers, in one run, and judges the targets.')
    .argument('[words...]', 'what to measure; everything where there are none')
    .option('--rounds <n>', `interleaved rounds (default: ${ROUNDS}, with --quick 1)`, number(1, 100, { whole: true }))
    .option('--quick', 'small sizes: tries the bench itself; its figures mean nothing', false)
    .option('--targets', 'only what the targets speak of: fewer workloads, fewer subjects', false)
    .option('--node <release>', 'run it on this release of Node, from the registry', nodeRelease)
    .option('--remark <text>', 'kept with the results, and shown: "Others used the machine meanwhile.", say')
    .option('--json <file>', 'write the results there instead of to bench/results')
    .option('--by-release <file>', 'keep the results in this file, too, beside those of other releases of Node')
    .addHelpText('after', help);
  if (!readFlags(command, argv)) return undefined;
  const flags = command.opts<Omit<Options, 'suites' | 'rounds'> & { rounds?: number; targets: boolean }>();
  const selected = select(flags.targets ? selectTargeted(suites, targets) : suites, command.args);
  if (selected.length === 0)
    throw new UsageError(`nothing to measure is called "${command.args.join(' ')}"; see --help`);
  return { ...flags, suites: selected, rounds: flags.rounds ?? (flags.quick ? 1 : ROUNDS) };
}
