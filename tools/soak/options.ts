import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { number, readFlags } from '../../bench/replay/command-line.ts';

export interface SoakOptions {
  readonly minutes: number;
  readonly cps: number;
  readonly shards: number;
  /** Event loops beside the main thread's; they share the connections. */
  readonly clients: number;
  readonly seed: number;
  /**
   * Seconds from one crash to the next; 0 for none. The same for blocks of the event loop and bursts of connections.
   */
  readonly crashEvery: number;
  readonly blockEvery: number;
  readonly burstEvery: number;
  /** Seconds from one end of a client's thread to the next; 0 for none. */
  readonly clientEvery: number;
  /** Connections of a burst. */
  readonly burst: number;
  readonly json?: string;
}

/** Reads the flags. Returns `undefined` where `--help` was asked for and answered; throws `UsageError`. */
export function parseSoakOptions(argv: readonly string[]): SoakOptions | undefined {
  const every = number(0, 86_400);
  const command = new Command('npm run soak --')
    .description(
      "Runs a proxy's timers for a long time while threads crash and hang, the event loop is blocked, and bursts come.\n" +
        'Fails if a timer is lost, delivered twice or early, or if memory, handles or tables grow.',
    )
    .option('--minutes <n>', 'how long', number(0.05, 10_080), 20)
    .option('--cps <n>', 'new connections per second', number(1, 1_000_000, { whole: true }), 50_000)
    .option('--shards <n>', 'worker threads', number(1, 1024, { whole: true }), availableParallelism())
    .option(
      '--clients <n>',
      'event loops beside the main one, clients of the same shards',
      number(0, 64, { whole: true }),
      0,
    )
    .option('--seed <n>', 'seed of workload and faults', number(0, 0xffffffff, { whole: true }), 1)
    .option('--crash-every <s>', 'a thread is ended in one of five ways; 0 = never', every, 2)
    .option('--block-every <s>', 'the event loop is blocked for 100 to 1,000 ms; 0 = never', every, 5)
    .option('--burst-every <s>', 'connections come all at once; 0 = never', every, 11)
    .option('--client-every <s>', "a client's thread is terminated and replaced; 0 = never", every, 7)
    .option('--burst <n>', 'how many', number(1, 1_000_000, { whole: true }), 20_000)
    .option('--json <file>', 'write the results there, too');
  if (!readFlags(command, argv)) return undefined;
  return command.opts<SoakOptions>();
}
