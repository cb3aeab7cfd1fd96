import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { number, readFlags } from '../../bench/replay/command-line.ts';
import { writableFile } from '../../bench/replay/writable-file.ts';
import { parseTime, parseTimer } from './parse-timer.ts';
import { type PlannedTimer, proxyTimers } from './planned-load.ts';

export interface PlanOptions {
  readonly cps: number;
  readonly loops: number;
  readonly cores: number;
  /** Bytes. */
  readonly memory?: number;
  readonly timers: readonly PlannedTimer[];
  /** ms per connection. */
  readonly work?: number;
  readonly rounds: number;
  readonly costs?: string;
  readonly saveCosts?: string;
  readonly json?: string;
}

interface Flags extends Omit<PlanOptions, 'timers'> {
  readonly lifetime: number;
  readonly timer: readonly string[];
}

const help = `
A timer is name=delay[,held=time][,starts=n][,moves=n][,fires=percent]: how many a connection starts, how often each is
moved to its full delay, how long it is held before it is cancelled, and how many are not and fire. Times have a unit.

Examples:
  npx shardwheel plan                                          a proxy with 10,000 connections per second
  npx shardwheel plan --cps 400000 --loops 16 --cores 64       of another machine with cores like these
  npx shardwheel plan --cps 5000 --lifetime 10m --memory 512   what fits into 512 MiB
  npx shardwheel plan --timer idle=5m,held=2m,moves=40 --timer ping=30s,starts=4,held=200ms,fires=1
`;

/** Reads the flags. Returns `undefined` where `--help` was asked for and answered; throws `UsageError`. */
export function parsePlanOptions(argv: readonly string[]): PlanOptions | undefined {
  const command = new Command('npx shardwheel plan')
    .description(
      'Measures what your timers cost on this machine, and predicts how many shards they need, what they take, and what runs short first.',
    )
    .option(
      '--cps <n>',
      'new connections per second, of all event loops: from 1 to 100,000,000',
      number(1, 100_000_000),
      10_000,
    )
    .option('--loops <n>', 'event loops that share them: from 1 to 1,024', number(1, 1024, { whole: true }), 1)
    .option('--cores <n>', 'cores of the machine', number(1, 1024, { whole: true }), availableParallelism())
    .option(
      '--memory <MiB>',
      'memory that the timers may take; default: no limit',
      (text) => number(1, 2 ** 24)(text) * 2 ** 20,
    )
    .addOption(
      new Option('--lifetime <time>', 'how long a connection is open, on average')
        .argParser(parseTime)
        .default(8000, '8s'),
    )
    .addOption(
      new Option('--timer <timer>', 'a kind of timer, see below')
        .argParser((text, all: string[]) => [...all, text])
        .default([], 'the four of a proxy'),
    )
    .option(
      '--work <µs>',
      "event loop's CPU per connection without timers; default: measured, of a bare TCP connection",
      (text) => number(0, 1e6)(text) / 1000,
    )
    .option('--rounds <n>', 'how often each cost is measured; the median counts', number(1, 99, { whole: true }), 3)
    .option('--costs <file>', 'use saved costs instead of measuring')
    .option('--save-costs <file>', 'write the measured costs to this file', writableFile)
    .option('--json <file>', 'also write the plan to this file', writableFile)
    .addHelpText('after', help);
  if (!readFlags(command, argv)) return undefined;
  const { lifetime, timer, ...options } = command.opts<Flags>();
  const timers = timer.length === 0 ? proxyTimers(lifetime) : timer.map((text) => parseTimer(text, lifetime));
  return { ...options, timers };
}
