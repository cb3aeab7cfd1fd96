import { randomInt } from 'node:crypto';
import { Command } from 'commander';
import { number, readFlags } from '../../../bench/replay/command-line.ts';

export interface WheelSoakOptions {
  readonly operations: number;
  readonly seed: number;
  readonly threads: number;
  /** The one world to play. */
  readonly world?: number;
}

/** Reads the flags. Returns `undefined` where `--help` was asked for and answered; throws `UsageError`. */
export function parseWheelSoakOptions(argv: readonly string[]): WheelSoakOptions | undefined {
  const greatest = 2 ** 31 - 1;
  const command = new Command('npm run soak -- wheel')
    .description(
      'Plays wheels of every preset, and of drawn configurations, against a sorted list that shares no code with them.\n' +
        'Fails with the first difference; its seed, world and fewest moves are printed.',
    )
    .option('--operations <n>', 'moves to make', number(1, 1e15, { whole: true }), 1e8)
    .option('--seed <n>', 'seed of the worlds', number(0, greatest, { whole: true }), randomInt(1, 2 ** 31))
    .option('--threads <n>', 'threads that play', number(1, 64, { whole: true }), 1)
    .option('--world <n>', 'play this world only', number(0, greatest, { whole: true }));
  if (!readFlags(command, argv)) return undefined;
  return command.opts<WheelSoakOptions>();
}
