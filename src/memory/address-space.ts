import { process } from '../process.ts';

/** A process with a limit may lay out this share of it at a time for what it does not need yet. */
const SHARE = 1 / 64;

/** The limit in bytes, once it has been asked for; Infinity for none. */
let limit: number | undefined;

/**
 * Whether so many bytes may be laid out ahead of need. Laying out costs nothing but address space; where that is
 * limited (`ulimit -v`), a large part of it would be granted, and Node's own heap, which is never asked, end the
 * process.
 */
export const mayLayOut = (bytes: number): boolean => bytes <= addressLimit() * SHARE;

/** Bytes of address space that the process can still have; Infinity if it has no limit. */
export function addressSpaceLeft(): number {
  const all = addressLimit();
  return all === Number.POSITIVE_INFINITY ? all : all - 1024 * numberIn('status', /^VmSize:\s+(\d+) kB/m, 0);
}

function addressLimit(): number {
  limit ??= numberIn('limits', /^Max address space\s+(\d+)/m, Number.POSITIVE_INFINITY);
  return limit;
}

/** A number of what Linux says about this process; other systems have no such limit, or do not say so. */
function numberIn(file: string, pattern: RegExp, otherwise: number): number {
  if (process.platform !== 'linux') return otherwise;
  try {
    const text = process.getBuiltinModule('node:fs').readFileSync(`/proc/self/${file}`, 'utf8');
    return Number(pattern.exec(text)?.[1] ?? otherwise);
  } catch {
    return otherwise; // the process may not read it
  }
}
