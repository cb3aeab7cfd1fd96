import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Measurement, Scale } from './suite.ts';

/** What the process is to measure. */
export interface Assignment {
  readonly suite: string;
  readonly subjects: readonly string[];
  readonly part: string;
  readonly scale: Scale;
}

export interface Answer {
  /** Of each subject, in their order. */
  readonly measurements?: readonly Measurement[];
  readonly failure?: string;
}

/** Measures in a fresh process. Rejects where the subject did wrong, or the process died, or the signal was aborted. */
export function forkMeasurement(assignment: Assignment, signal: AbortSignal): Promise<readonly Measurement[]> {
  const entry = fileURLToPath(new URL(`./measuring-process${import.meta.url.slice(-3)}`, import.meta.url));
  const title = [assignment.suite, assignment.part, ...assignment.subjects].filter((word) => word !== '').join(', ');
  return new Promise((resolve, reject) => {
    const child = fork(entry, [JSON.stringify(assignment)], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let answer: Answer | undefined;
    const stop = () => child.kill('SIGKILL');
    signal.addEventListener('abort', stop, { once: true });
    child.on('message', (message: Answer) => {
      answer = message;
    });
    child.on('error', reject);
    child.on('close', (code, killedBy) => {
      signal.removeEventListener('abort', stop);
      if (answer?.measurements !== undefined) {
        resolve(answer.measurements);
        return;
      }
      const failure = answer?.failure ?? `the process ended with ${killedBy ?? code}`;
      reject(new Error(`${title}: ${failure}`));
    });
    if (signal.aborted) stop();
  });
}
