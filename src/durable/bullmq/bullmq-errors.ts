import { DurableStoreError } from '../durable-error.ts';

/** Of a job whose lock has run out. A worker has taken it since, or is about to. */
const lockLost = /(Missing (key|lock)|Lock mismatch) for job|is not in the active state/;

const meanings: readonly (readonly [code: DurableStoreError['code'], pattern: RegExp, what: string])[] = [
  ['ERR_STORE_FULL', /\bOOM\b|MISCONF/, 'is full'],
  ['ERR_STORE_READ_ONLY', /READONLY|NOPERM|NOREPLICAS/, 'cannot be written'],
  ['ERR_STORE_LOCK_LOST', lockLost, 'took a timer from this worker while its handler ran'],
  ['ERR_STORE_CORRUPT', /WRONGTYPE/, 'has something else in its keys'],
  [
    'ERR_STORE_UNREACHABLE',
    /ECONN|ENOTFOUND|EPIPE|EHOST|ENET|ETIMEDOUT|Connection is closed|max(imum)? (number of )?retries|Stream isn't writeable|Command timed out|LOADING|NOAUTH|WRONGPASS|CLUSTERDOWN/i,
    'cannot be reached',
  ],
];

/** What an error of BullMQ or of its connection means. */
export function bullmqError(queue: string, cause: unknown): DurableStoreError {
  if (cause instanceof DurableStoreError) return cause;
  const said = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  const [code, , what] = meanings.find(([, pattern]) => pattern.test(said)) ?? ['ERR_STORE_FAILED', /./, 'has failed'];
  return new DurableStoreError(code, `The queue ${queue} ${what}: ${said}`, { cause });
}
