import { process } from './process.ts';

const SHORT = { depth: 0, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 40, maxArrayLength: 4 };

/** Maximum of characters of a value in a message: an object may have a million keys. */
const MAX_SHOWN = 400;

/**
 * Formats a value for an error message: short, on one line, with its type if the text alone would not show it. Never
 * throws, whatever the value's own `inspect`, getters and traps do: the message is of an error that its caller waits
 * for.
 */
export function show(value: unknown): string {
  const type = typeof value;
  try {
    const whole = process.getBuiltinModule('node:util').inspect(value, SHORT);
    const text = whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)}…` : whole;
    return type === 'number' || type === 'string' || value == null ? text : `${text} (${type})`;
  } catch {
    // its own code has thrown
    return `${type === 'object' ? 'an' : 'a'} ${type} that cannot be shown`;
  }
}

/** What was thrown, for a message: what an error says; of anything else, the value. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    const said: unknown = thrown instanceof Error ? thrown.message : thrown;
    return typeof said === 'string' ? said : show(said);
  } catch {
    // a getter, or a trap of a proxy, has thrown: shown as any value
  }
  return show(thrown);
}
