import { process } from '../../process.ts';

const { existsSync, readlinkSync } = process.getBuiltinModule('node:fs');
const { getPriority } = process.getBuiltinModule('node:os');

/** A name for something of this thread, as no other has: it begins with the process id. */
export const newIdentity = (): string => `${process.pid}-${ownThread()}-${Math.random().toString(36).slice(2, 12)}`;

/** The kernel's number of this thread; 0 where it does not say. */
function ownThread(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/')[2]);
  } catch {
    return 0; // no Linux
  }
}

/** Whether it is known that the thread has ended which an identity was made for. */
export function hasThreadEnded(identity: string): boolean {
  const [pid, thread] = identity.split('-');
  if (thread !== '0') return !existsSync(`/proc/${pid}/task/${thread}`);
  try {
    getPriority(Number(pid)); // asks for the process
    return false;
  } catch (error) {
    return (error as { info?: { code?: unknown } }).info?.code === 'ESRCH';
  }
}
