import { commandFile } from '../../bench/replay/command-file.ts';
import { replayCommand } from '../../bench/replay/replay-command.ts';

/** `npx shardwheel replay`: what `npm start` does in this package's own folder. */
export const runReplay = (argv: readonly string[]): Promise<number> =>
  replayCommand(argv, 'npx shardwheel replay', [commandFile, 'replay']);
