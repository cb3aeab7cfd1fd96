import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';

const profile = import.meta.resolve('shardwheel/profile');
const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

export interface ProgramEnd {
  /** For our own process: the program's, or 128 and the signal's number, as shells have it. */
  readonly code: number;
  /** In words. */
  readonly how: string;
}

/** A command cannot be started. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** As shells have it: 127 not found, 126 not to be run. */
  readonly exitCode: number;

  constructor(command: string, cause: NodeJS.ErrnoException) {
    const isMissing = cause.code === 'ENOENT';
    const reason = isMissing ? 'there is no such command' : cause.message;
    super(`${command} cannot be run: ${reason}`, { cause });
    this.exitCode = isMissing ? 127 : 126;
  }
}

/**
 * Runs a command with the profile in NODE_OPTIONS, so that each Node process in it records itself. It has our streams,
 * and gets the signals that we get, once: see `isToBePassed`. Rejects with CommandError.
 */
export function runProgram([command, ...given]: readonly string[], env: NodeJS.ProcessEnv): Promise<ProgramEnd> {
  if (command === '') return Promise.reject(new CommandError("''", { code: 'ENOENT' } as NodeJS.ErrnoException));
  const { NODE_OPTIONS = '' } = process.env;
  const options = `${NODE_OPTIONS} --import=${profile}`.trim();
  return new Promise((resolve, reject) => {
    const child = spawn(command, given, {
      stdio: 'inherit',
      env: { ...process.env, ...env, NODE_OPTIONS: options },
    });
    const release = passSignals(child);
    child.on('error', (error) => {
      release();
      reject(new CommandError(command, error));
    });
    child.on('exit', (code, signal) => {
      release();
      if (signal === null) resolve({ code: code ?? 1, how: `ended with exit code ${code}` });
      else resolve({ code: 128 + constants.signals[signal], how: `was ended by ${signal}` });
    });
  });
}

function passSignals(child: ChildProcess): () => void {
  const pass = (signal: NodeJS.Signals): void => {
    if (isToBePassed(signal, [process.stdin, process.stdout, process.stderr])) child.kill(signal);
  };
  return onSignals(pass);
}

/**
 * Whether a program that runs in our process group lacks a signal that we have got. A terminal sends that of Ctrl-C to
 * the whole group, whatever a process has for its input. A stream that is a terminal says that there is one.
 */
export function isToBePassed(signal: NodeJS.Signals, streams: readonly { isTTY?: boolean }[]): boolean {
  return signal !== 'SIGINT' || !streams.some(({ isTTY }) => isTTY);
}

/** Has signals that would end this process handled; returns what takes that back. */
export function onSignals(handle: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of passedOn) process.on(signal, handle);
  return () => {
    for (const signal of passedOn) process.off(signal, handle);
  };
}
