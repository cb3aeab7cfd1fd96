#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { Command } from 'commander';
import { type Part, packageFolder } from '../../bench/replay/command-file.ts';
import { readFlags, UsageError } from '../../bench/replay/command-line.ts';
import { tellError } from '../../bench/replay/printable.ts';

/** Runs a command with the arguments after its name, and returns its exit code. Throws `UsageError` for bad flags. */
type Run = (argv: readonly string[]) => Promise<number>;

/** Each command is loaded when it is used. */
const commands: Record<string, { readonly says: string; readonly load: () => Promise<Run> }> = {
  replay: {
    says: "replays the timers of a proxy, on shardwheel and on Node's own timers",
    load: async () => (await import('./replay.ts')).runReplay,
  },
  profile: {
    says: "says what Node's own timers cost a program, and what shardwheel would gain it: profile -- node app.js",
    load: async () => (await import('./profile.ts')).runProfile,
  },
  plan: {
    says: 'says what your timers will take, by costs measured here, and what will be short first',
    load: async () => (await import('../plan/plan-command.ts')).runPlan,
  },
  watch: {
    says: 'shows in the terminal what a dashboard shows',
    load: async () => (await import('./watch.ts')).runWatch,
  },
};

/** What this file is in a process or thread that a command has started: see `replay/command-file.ts`. */
const parts: Record<Part, () => Promise<(argument: string) => void | Promise<void>>> = {
  'replay-process': async () => (await import('../../bench/replay/replay-process.ts')).replayProcess,
  'loop-thread': async () => (await import('../../bench/replay/loop-thread.ts')).loopThread,
  'run-process': async () => (await import('../plan/run-process.ts')).runProcess,
  'work-process': async () => (await import('../plan/work-process.ts')).serveWork,
  'work-clients': async () => (await import('../plan/work-process.ts')).callServer,
  'timer-costs': async () => (await import('./profile/measure-timers.ts')).timerCosts,
};

const usage = 2;

function program(): Command {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  const command = new Command('shardwheel')
    .description(
      'Timers for programs with a great many of them: measures what they cost yours, and shows them at work.',
    )
    .version(version)
    .helpCommand(false)
    .enablePositionalOptions();
  for (const [name, { says }] of Object.entries(commands)) {
    command
      .command(name)
      .description(says)
      .passThroughOptions()
      .allowUnknownOption()
      .helpOption(false)
      .argument('[args...]');
  }
  return command.addHelpText('after', '\nshardwheel <command> --help describes each command.');
}

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  try {
    if (Object.hasOwn(commands, name ?? '')) return await (await commands[name].load())(rest);
    if (name === undefined) program().outputHelp();
    else readFlags(program(), argv);
    return 0;
  } catch (error) {
    tellError(error);
    return error instanceof UsageError ? usage : 1;
  }
}

/** Nobody but a command starts a part, with a channel to it. */
function partNamed(name: string): (() => Promise<(argument: string) => void | Promise<void>>) | undefined {
  const isStartedByUs = !isMainThread || process.connected;
  return isStartedByUs && Object.hasOwn(parts, name) ? parts[name as Part] : undefined;
}

const [first = '', argument = ''] = process.argv.slice(2);
const part = first.startsWith('as:') ? partNamed(first.slice('as:'.length)) : undefined;
if (part !== undefined) {
  await (await part())(argument);
} else {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return; // the reader has read enough (`| head`)
    tellError(error);
    process.exitCode = 1;
  });
  process.stderr.on('error', () => undefined); // there is nobody to tell
  const code = await main(process.argv.slice(2));
  process.exitCode ??= code;
}
