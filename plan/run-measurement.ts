import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** ms after which a measurement is aborted: a slower machine cannot be planned for. */
const patience = 120_000;

/** Runs a file of this folder in a process of its own, with a task as its argument, and resolves with the message that it sends. */
export function runMeasurement<Result>(name: string, task: unknown, signal: AbortSignal): Promise<Result> {
  const entry = fileURLToPath(new URL(`./${name}${import.meta.url.slice(-3)}`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = fork(entry, [JSON.stringify(task)], {
      execArgv: [...process.execArgv, '--expose-gc'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    });
    let result: { readonly value: Result } | undefined;
    child.on('message', (value) => {
      result = { value: value as Result };
    });
    child.on('error', reject);
    child.on('close', (code, killedBy) => {
      if (result) resolve(result.value);
      else reject(new Error(`a measurement ended without a result (${killedBy ?? `exit code ${code}`})`));
    });
  });
}
