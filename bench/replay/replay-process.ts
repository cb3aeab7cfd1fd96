import type { ReplayOptions } from './options.ts';
import { Replay } from './replay.ts';
import type { ReplayMessage, SubjectName } from './replay-result.ts';

function send(message: ReplayMessage): void {
  if (process.connected) process.send?.(message);
}

/** The process that runs one replay: started by `forkReplay`, speaks `ReplayMessage`s, ends by itself. */
export async function replayProcess(assignment: string): Promise<void> {
  const [name, options] = JSON.parse(assignment) as [SubjectName, ReplayOptions];
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
}
