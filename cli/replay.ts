import { fileURLToPath } from 'node:url';
import { replayCommand } from '../replay/replay-command.ts';

const script = fileURLToPath(new URL('../replay/main.js', import.meta.url));

/** `npx shardwheel replay`: what `npm start` does in this package's own folder. */
export const runReplay = (argv: readonly string[]): Promise<number> =>
  replayCommand(argv, 'npx shardwheel replay', script);
