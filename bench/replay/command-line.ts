import { type Command, CommanderError, InvalidArgumentError } from 'commander';

/** Bad flags: the message is the one line that the user sees. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Parses a flag's number within bounds. */
export function number(least: number, most: number, { whole = false } = {}): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(`It must be a${whole ? ' whole' : ''} number from ${least} to ${most}.`);
  };
}

/** Makes the command read the flags. Returns false after `--help` or `--version`; throws `UsageError`. */
export function readFlags(command: Command, argv: readonly string[]): boolean {
  command.exitOverride().configureOutput({ writeErr: () => {} });
  try {
    command.parse(argv, { from: 'user' });
    return true;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return false;
    throw new UsageError(error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' '));
  }
}
