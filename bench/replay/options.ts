import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { type PresetName, presets } from '../../src/wheel/presets.ts';
import { number, readFlags, UsageError } from './command-line.ts';
import { nodeRelease } from './node-release.ts';
import { writableFile } from './writable-file.ts';

/** What one replay needs to know. Durations are in seconds, as on the command line. */
export interface ReplayOptions {
  readonly cps: number;
  readonly seconds: number;
  readonly drain: number;
  readonly shards: number | 'auto';
  /** Event loops that share the connections: this one where it is 1, else so many threads. */
  readonly threads: number;
  readonly wheel: PresetName;
  readonly tick: number;
  readonly seed: number;
  readonly lifetime: number;
  readonly requests: number;
  /** Percent of the requests that are never answered. */
  readonly hang: number;
  /** Percent by which a connection's timeouts may be longer than the flags say, spread evenly over the connections. */
  readonly jitter: number;
  readonly connectTimeout: number;
  readonly idleTimeout: number;
  readonly requestTimeout: number;
  readonly timeWait: number;
  /** Each step of a connection runs in an AsyncLocalStorage.run of its own. */
  readonly contexts: boolean;
  /** The port of a page that shows shardwheel's scheduler; true for the usual one. */
  readonly dashboard?: number | true;
}

export interface Options extends ReplayOptions {
  /** Event loops of the column with shards. */
  readonly loops: number;
  readonly json?: string;
  /** Whether shardwheel inline is among the columns, and node:timers. */
  readonly inline: boolean;
  readonly native: boolean;
  /** The release of Node that is to run it. */
  readonly node?: string;
}

/** Most connections of one replay: the driver's tables are laid out for all of them before the clock starts. */
const maxConnections = 20_000_000;

const examples = (name: string): string => {
  const plain = name.replace(/ --$/, '');
  const lines = [
    [plain, "100,000 connections per second for 5 s: inline, with a shard, on Node's own timers"],
    [`${name} --cps 50000 --seconds 10 --shards 2`, 'half the rate, twice the time, two shards'],
    [`${name} --loops 2`, 'two event loops share the shard; the other columns have one'],
    [`${name} --threads 2`, 'two event loops in every column'],
    [`${name} --lifetime 60 --requests 10`, 'long connections: more live timers, more moves'],
    [`${name} --node 24`, 'on Node 24, whatever runs this'],
    [`${name} --contexts`, 'every request in an async context of its own'],
    [`${name} --jitter 10`, "every connection's timeouts up to 10 % longer, as some proxies do"],
    [`${name} --seconds 120 --shards 0 --no-native --dashboard`, 'two minutes inline, on http://127.0.0.1:7373/'],
    [`${name} --no-native --json out.json`, 'only shardwheel, results into a file'],
  ];
  const width = Math.max(...lines.map(([call]) => call.length)) + 3;
  const examples = lines.map(([call, says]) => `  ${call.padEnd(width)}${says}`);
  return `\nExamples:\n${examples.join('\n')}`;
};

/** Event loops of the column with shards where nobody says how many: several where there are cores for them. */
export const usualLoops = (cores: number): number => (cores < 4 ? 1 : Math.min(4, Math.floor(cores / 2)));

const shardThreads = number(0, 1024, { whole: true });
const shards = (text: string): number | 'auto' => (text === 'auto' ? text : shardThreads(text));

/**
 * Reads the flags; `name`: what the command is called by, for its help. Returns `undefined` where `--help` or
 * `--version` was asked for and answered; throws `UsageError`.
 */
export function parseOptions(argv: readonly string[], name = 'npm start --'): Options | undefined {
  const timeout = number(0.001, 86_400);
  const percent = number(0, 100);
  const eventLoops = number(1, 64, { whole: true });
  const usual = usualLoops(availableParallelism());
  const command = new Command(name)
    .description(
      'Replays the timers of a proxy on the real clock, each in a process of its own: the driver alone, shardwheel inline, ' +
        'shardwheel with shards on threads, node:timers.',
    )
    .option('--cps <n>', 'new connections per second', number(1, 10_000_000, { whole: true }), 100_000)
    .option('--seconds <s>', 'how long connections arrive', number(0.1, 3600), 5)
    .option('--drain <s>', 'how long the replay goes on after the last arrival', number(0, 3600), 2)
    .option(
      '--shards <n>',
      'shards on threads; 0 leaves that column out; auto = when timers pay for a thread',
      shards,
      1,
    )
    .option('--loops <n>', `event loops that share the shards, in that column (default here: ${usual})`, eventLoops)
    .option('--threads <n>', 'event loops of every column, which share the connections', eventLoops, 1)
    .addOption(new Option('--wheel <preset>', 'preset of the wheels').choices(Object.keys(presets)).default('default'))
    .option('--tick <ms>', 'milliseconds per tick', number(0.001, 60_000), 1)
    .option('--seed <n>', 'seed of the workload', number(0, 0xffffffff, { whole: true }), 1)
    .option('--lifetime <s>', 'mean lifetime of a connection', number(0.01, 86_400), 8)
    .option('--requests <n>', 'mean requests per connection', number(1, 10_000), 3)
    .option('--hang <percent>', 'share of requests that are never answered', percent, 0.5)
    .option('--jitter <percent>', 'by how much timeouts may be longer, per connection', percent, 0)
    .option('--connect-timeout <s>', 'armed at SYN', timeout, 1)
    .option('--idle-timeout <s>', 'armed at accept, moved with every request', timeout, 60)
    .option('--request-timeout <s>', 'armed with every request', timeout, 3)
    .option('--time-wait <s>', 'armed at close; 60 on Linux, scaled down so that it fires within the run', timeout, 1)
    .option('--contexts', 'run every request in its own AsyncLocalStorage.run', false)
    .option('--dashboard [port]', 'a page that shows the scheduler while it runs', number(0, 65_535, { whole: true }))
    .option('--node <release>', 'run it on this release of Node, from the registry', nodeRelease)
    .option('--json <file>', 'also write the results to this file', writableFile)
    .option('--no-inline', 'leave out the column of shardwheel inline')
    .option('--no-native', "leave out the comparison with Node's own timers")
    .addHelpText('after', examples(name));
  if (!readFlags(command, argv)) return undefined;
  const { loops, ...options } = command.opts<Omit<Options, 'loops'> & { readonly loops?: number }>();
  const connections = options.cps * options.seconds;
  if (connections > maxConnections) {
    throw new UsageError(`--cps times --seconds must be at most ${maxConnections} connections, got ${connections}`);
  }
  if (options.shards === 0 && loops !== undefined) {
    throw new UsageError(`--loops ${loops} is for the column with shards, which --shards 0 leaves out`);
  }
  if (options.shards === 0 && !options.inline) {
    throw new UsageError('--shards 0 and --no-inline leave nothing of shardwheel to measure');
  }
  return { ...options, loops: loops ?? (options.threads > 1 ? options.threads : usual) };
}
