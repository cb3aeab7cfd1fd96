import { process } from '../../process.ts';

const { readFileSync, readlinkSync } = process.getBuiltinModule('node:fs');
const { getPriority } = process.getBuiltinModule('node:os');

/** A name for something of this thread, as no other has: it begins with the process id. */
export const newIdentity = (): string => `${process.pid}-${ownThread()}-${Math.random().toString(36).slice(2, 12)}`;

/** The kernel's number of this thread, and when it has started; 0 where it does not say. */
function ownThread(): string {
  try {
    const thread = readlinkSync('/proc/thread-self').split('/')[2];
    return `${thread}-${startOf(process.pid, thread)}`;
  } catch {
    return '0-'; // no Linux, or no permission
  }
}

/** Whether it is known that the thread has ended which an identity was made for. */
export function hasThreadEnded(identity: string): boolean {
  const [pid, thread, start] = identity.split('-');
  try {
    if (thread !== '0') return startOf(pid, thread) !== start;
    getPriority(Number(pid)); // asks for the process
    return false;
  } catch (error) {
    return (error as { info?: { code?: unknown } }).info?.code === 'ESRCH'; // else it is not known: too many files may be open
  }
}

let boot: string | undefined;

/**
 * In which boot a thread has started, and after how many ticks; empty if it has ended. Its number alone says little: what starts next
 * in a container has the same. A process that nobody has waited for has ended with its last thread.
 */
function startOf(pid: number | string, thread: string): string {
  const stat = textOf(`/proc/${pid}/task/${thread}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // after the name, which may hold anything
  const [state, threads, ticks] = [fields[0], fields[17], fields[19]];
  if (stat === '' || (state === 'Z' && threads === '1')) return '';
  boot ??= textOf('/proc/sys/kernel/random/boot_id').slice(0, 8);
  return `${boot}.${ticks}`;
}

/** What a file holds; nothing if there is none. */
export const textOf = (file: string): string => unlessMissing(() => readFileSync(file, 'utf8'), '');

export function unlessMissing<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (/ENOENT|ESRCH/.test((error as NodeJS.ErrnoException).code ?? '')) return otherwise;
    throw error;
  }
}
