import { Command, InvalidArgumentError } from 'commander';
import { descriptorLimit, descriptorsNeeded } from './file-descriptors.ts';
import type { LoadTimeouts } from './load-timeouts.ts';

export interface Options {
  seconds: number;
  connections: number;
  parallel: number;
  hanging: number;
  shards: number;
  /** Connections that stand for the whole run. */
  standing: number;
  /** Proxies, each in a process with a scheduler, a load generator and an upstream of its own. */
  processes: number;
  /** false: the proxy has none. */
  limits: boolean;
  /** ms beyond a limit, a quarter of an idle one, a tick and the measured stalls, after which a cut is late. */
  grace: number;
  /** Event loops that serve connections, each a worker thread. */
  threads: number;
  /** Seconds from one killed event loop to the next; undefined: none is killed. */
  kill?: number;
  timeouts: LoadTimeouts;
}

type Flags = Omit<Options, 'timeouts'> & LoadTimeouts;

const number =
  (least: number, most: number, whole = true) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(`It must be a ${whole ? 'whole number' : 'number'} from ${least} to ${most}.`);
  };

const wait = number(50, 3_600_000);

/** Ends the process with exit code 2 and one line on stderr where the flags make no sense. */
export function parseOptions(argv: readonly string[]): Options {
  const command = new Command('proxy')
    .description('A TCP proxy with its timers on shardwheel, under load, on 127.0.0.1.')
    .option('--seconds <n>', 'how long connections are opened', number(0.1, 600, false), 5)
    .option('--connections <n>', 'most connections opened in all', number(1, 1_000_000), 200_000)
    .option('--parallel <n>', 'quick connections open at a time', number(1, 1_000), 32)
    .option('--hanging <percent>', 'share of connections that hang on purpose', number(0, 40, false), 2)
    .option('--standing <n>', 'connections that stand for the whole run, opened first', number(0, 200_000), 0)
    .option('--processes <n>', 'proxies in processes of their own, among which all is shared out', number(1, 64), 1)
    .option('--no-limits', 'a proxy without limits, for what they cost; then nothing hangs')
    .option('--grace <ms>', 'how late a cut may be, beside what is measured', number(0, 60_000), 250)
    .option('--shards <n>', 'worker threads for the timers', number(0, 64), 1)
    .option('--threads <n>', 'event loops that serve connections, of each process', number(1, 64), 1)
    .option(
      '--kill <seconds>',
      'kill and replace a thread every so often, while connections are opened',
      number(0.1, 600, false),
    )
    .option('--connect <ms>', 'connect timeout', wait, 500)
    .option('--secure <ms>', 'timeout of the TLS handshake', wait, 600)
    .option('--first-byte <ms>', 'timeout of the first byte, less than the idle timeout', wait, 600)
    .option('--idle <ms>', 'idle timeout', wait, 1_200)
    .option('--half-close <ms>', 'half-close timeout', wait, 500)
    .option('--lifetime <ms>', 'lifetime, at least five times the idle timeout', wait, 8_000)
    .option('--drain <ms>', 'drain timeout', wait, 10_000)
    .allowExcessArguments(false)
    .configureOutput({ outputError: (text, write) => write(text.replaceAll(/\n(?=.)/g, ' ')) })
    .exitOverride((error) => {
      process.exit(error.exitCode === 0 ? 0 : 2);
    })
    .parse(argv);
  const { connect, secure, firstByte, idle, halfClose, lifetime, drain, ...rest } = command.opts<Flags>();
  if (firstByte >= idle) {
    command.error(`error: --first-byte ${firstByte} must be less than --idle ${idle}, which would otherwise cut first`);
  }
  if (lifetime < 5 * idle) {
    command.error(
      `error: --lifetime ${lifetime} must be at least five times --idle ${idle}, which healthy ones outlive`,
    );
  }
  if (rest.kill !== undefined && rest.threads < 2) {
    command.error(
      `error: --kill ${rest.kill} needs --threads 2 or more: nobody would listen until the next thread is up`,
    );
  }
  const needed = descriptorsNeeded(rest);
  const limit = descriptorLimit();
  if (needed > limit) {
    const atLeast = Math.ceil((rest.processes * needed) / limit);
    command.error(
      `error: --standing ${rest.standing} needs ${needed} file descriptors in a process, and the system gives ${limit} (ulimit -n): ` +
        `raise that, or say --processes ${atLeast} or more`,
    );
  }
  return { ...rest, timeouts: { connect, secure, firstByte, idle, halfClose, lifetime, drain } };
}
