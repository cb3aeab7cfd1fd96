// Entry of the process that runs one replay: started by `forkReplay`, speaks `ReplayMessage`s, ends by itself.
import process from 'node:process';
import type { ReplayOptions } from './options.ts';
import { Replay } from './replay.ts';
import type { ReplayMessage, SubjectName } from './replay-result.ts';

function send(message: ReplayMessage): void {
  if (process.connected) process.send?.(message);
}

const [name, options] = JSON.parse(process.argv[2] ?? '[]') as [SubjectName, ReplayOptions];
const replay = new Replay(name, options, (progress) => send({ type: 'progress', progress }));
process.on('SIGINT', () => replay.stop());
process.on('SIGTERM', () => replay.stop());
process.once('disconnect', () => replay.stop());

try {
  send({ type: 'result', result: await replay.run() });
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  send({ type: 'failure', message: message.split('\n')[0]!, usage: code === 'ERR_INVALID_CONFIG' });
  process.exitCode = 1;
}
if (process.connected) process.disconnect();
