#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { readFlags, UsageError } from '../replay/command-line.ts';
import { Command } from '../vendor/commander.ts';

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

const usage = 2;

function program(): Command {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const command = new Command('shardwheel')
    .description('Timers on other cores: measures their gain for your program, and shows them at work.')
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
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? usage : 1;
  }
}

// The reader may have read enough (`| head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await main(process.argv.slice(2));
