import { fork } from 'node:child_process';
import { asPart, commandFile, type Part } from '../../bench/replay/command-file.ts';

/** ms after which a measurement is aborted: a slower machine cannot be planned for. */
const patience = 120_000;

/** Characters that are kept of what a measurement has said last. */
const MAX_KEPT_LENGTH = 8192;

/** The error that has ended a process, of what it has said. */
const errorIn = (said: string): string | undefined => /^\w*Error\b.*/m.exec(said)?.[0];

/**
 * Runs a part of the command line in a process of its own, with a task as its argument, and resolves with the message
 * that it sends.
 */
export function runMeasurement<Result>(part: Part, task: unknown, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = fork(commandFile, asPart(part, JSON.stringify(task)), {
      execArgv: [...process.execArgv, '--expose-gc'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    });
    let result: { readonly value: Result } | undefined;
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-MAX_KEPT_LENGTH);
    });
    child.on('message', (value) => {
      result = { value: value as Result };
    });
    child.on('error', reject);
    child.on('close', (code, killedBy) => {
      if (result) {
        resolve(result.value);
        return;
      }
      const why = errorIn(said) ?? killedBy ?? `exit code ${code}`;
      reject(new Error(`a measurement ended without a result: ${why}`));
    });
  });
}
