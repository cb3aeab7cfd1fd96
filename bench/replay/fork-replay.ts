import { fork } from 'node:child_process';
import { asPart, commandFile } from './command-file.ts';
import { UsageError } from './command-line.ts';
import type { ReplayOptions } from './options.ts';
import type { Progress, ReplayMessage, ReplayResult, SubjectName } from './replay-result.ts';

/** ms that a replay's process may take to end by itself, after its result or after being told to stop. */
const endsWithin = 5000;

export interface ReplayRun {
  readonly result: ReplayResult;
  /** False where the process had to be killed after it had delivered its result: something kept it alive. */
  readonly endedByItself: boolean;
}

/**
 * Runs one replay in a process of its own, so that no subject inherits another one's heap. Rejects with `UsageError`
 * where an option does not work, with `Error` where the replay failed, and with the signal's reason when aborted.
 */
export function forkReplay(
  name: SubjectName,
  options: ReplayOptions,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<ReplayRun> {
  return new Promise((resolve, reject) => {
    const child = fork(commandFile, asPart('replay-process', JSON.stringify([name, options])), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let result: ReplayResult | undefined;
    let failure: Error | undefined;
    let endedByItself = true;
    let killer: NodeJS.Timeout | undefined;
    const expectEnd = () => {
      killer ??= setTimeout(() => {
        endedByItself = false;
        child.kill('SIGKILL');
      }, endsWithin);
    };
    const stop = () => {
      child.kill('SIGINT');
      expectEnd();
    };
    signal.addEventListener('abort', stop, { once: true });
    child.on('message', (message: ReplayMessage) => {
      if (message.type === 'progress') return onProgress(message.progress);
      if (message.type === 'result') result = message.result;
      else failure = message.usage ? new UsageError(message.message) : new Error(message.message);
      expectEnd();
    });
    child.on('error', (error) => {
      failure ??= error;
    });
    child.on('close', (code, killedBy) => {
      clearTimeout(killer);
      signal.removeEventListener('abort', stop);
      if (signal.aborted) reject(signal.reason);
      else if (failure) reject(failure);
      else if (result) resolve({ result, endedByItself });
      else reject(endedWithout(name, killedBy ?? `exit code ${code}`));
    });
    if (signal.aborted) stop();
  });
}

const endedWithout = (name: string, how: string): Error =>
  new Error(`The replay of ${name} ended without a result (${how})`);
