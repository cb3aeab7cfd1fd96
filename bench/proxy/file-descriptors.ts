/** Most connections open at a time besides the quick ones and those that stand. */
export const MAX_SLOW = 600;

/** Of Node, its threads and its files. */
const BESIDE_SOCKETS = 200;

/** The proxy's process has two sockets for each connection. */
export function descriptorsNeeded({
  standing,
  parallel,
  processes,
}: Record<'standing' | 'parallel' | 'processes', number>): number {
  return 2 * Math.ceil((standing + parallel + MAX_SLOW) / processes) + BESIDE_SOCKETS;
}

/** What a process may have open, which Node has raised as far as it can; Infinity where the system does not say. */
export function descriptorLimit(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
  const limit = userLimits?.open_files?.soft ?? 'unlimited';
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}
