import { process } from '../../../process.ts';

const { existsSync, readFileSync, readlinkSync } = process.getBuiltinModule('node:fs');
const { getPriority, hostname } = process.getBuiltinModule('node:os');

/** Where a space or a thread is not told. */
const UNKNOWN = '0';

let space: string | undefined;
let seesProcesses: boolean | undefined;

/**
 * A name for something of this thread, as no other has in any pid namespace: process, thread, its start, namespace,
 * machine.
 */
export const newIdentity = (): string =>
  [process.pid, ownThread(), ownSpace(), ownMachine(), Math.random().toString(36).slice(2, 12)].join('-');

/** Whether an identity is of another pid namespace: its numbers mean nothing here. */
export function isForeign(identity: string): boolean {
  const [, , , of, machine] = identity.split('-');
  return of === UNKNOWN || ownSpace() === UNKNOWN ? machine !== ownMachine() : of !== ownSpace();
}

/** The kernel's number of this thread, and when it has started; 0 where it does not say. */
function ownThread(): string {
  try {
    if (!hasOwnProc()) return `${UNKNOWN}-`;
    const thread = readlinkSync('/proc/thread-self').split('/')[2];
    return `${thread}-${startOf(process.pid, thread)}`;
  } catch {
    return `${UNKNOWN}-`; // no Linux, or no permission
  }
}

/**
 * Where process ids mean the same: a boot of a machine, and a pid namespace in it. The number of a namespace that has
 * ended is given to another, but then all of its processes have ended as well, and started earlier.
 */
function ownSpace(): string {
  space ??= readSpace();
  return space;
}

function readSpace(): string {
  try {
    const [inode] = /\d+/.exec(readlinkSync('/proc/self/ns/pid')) as RegExpExecArray;
    return `${textOf('/proc/sys/kernel/random/boot_id').slice(0, 8)}.${inode}`;
  } catch {
    return UNKNOWN; // no Linux, or no permission
  }
}

/** A container mostly has a name of its own. */
const ownMachine = (): string => hostname().replaceAll(/\W/g, '_');

/** Whether /proc shows this pid namespace: `unshare --pid` alone leaves that of another. Throws where there is none. */
function hasOwnProc(): boolean {
  seesProcesses ??= readlinkSync('/proc/self') === `${process.pid}`;
  return seesProcesses;
}

/**
 * What has become of the thread that an identity of this pid namespace was made for. It is unknown where the kernel
 * shows processes but no threads: no Linux, or /proc hides those of other users (`hidepid`).
 */
export function fateOf(identity: string): 'lives' | 'ended' | 'unknown' {
  const [pid, thread, start] = identity.split('-');
  try {
    if (thread !== UNKNOWN && hasOwnProc()) {
      const found = startOf(pid, thread);
      if (found === start) return 'lives';
      if (found !== '' || existsSync(`/proc/${pid}`)) return 'ended';
    }
    getPriority(Number(pid)); // asks for the process
    return 'unknown';
  } catch (error) {
    const { info } = error as { info?: { code?: unknown } };
    return info?.code === 'ESRCH' ? 'ended' : 'unknown'; // else too many files may be open
  }
}

/**
 * After how many ticks of the boot a thread has started; empty if it has ended, or is hidden. Its number alone says
 * little: what starts next in a container has the same. A process that nobody has waited for has ended with its last
 * thread.
 */
function startOf(pid: number | string, thread: string): string {
  const stat = textOf(`/proc/${pid}/task/${thread}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // after the name, which may hold anything
  const [state, threads, ticks] = [fields[0], fields[17], fields[19]];
  return stat === '' || (state === 'Z' && threads === '1') ? '' : ticks;
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
