import { process } from './process.ts';

const warned = new Set<string>();

/** Emits a process warning with this code, unless this thread has had one. docs/operate.md lists the codes. */
export function warnOnce(code: string, message: string): void {
  if (warned.has(code)) return;
  warned.add(code);
  process.emitWarning(message, { type: 'ShardwheelWarning', code });
}
