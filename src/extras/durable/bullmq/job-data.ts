import type { StoredTimer } from '../stored-timer.ts';
import { threadMark } from '../thread-mark.ts';

/**
 * Ids of BullMQ's jobs. A timer has the deduplication id `name/key`, each part percent-encoded, as BullMQ's ids have no
 * colon. Each `put` makes a job with an id of its own, `name/key/nonce`.
 */
export const timerId = (name: string, key: string): string => `${encode(name)}/${encode(key)}`;

/** The name and the key of a timer. */
export function nameAndKeyOf(timer: string): { name: string; key: string } {
  const [name, key] = timer.split('/').map(decodeURIComponent);
  return { name, key };
}

/** The timer of a job's id. */
export const timerIdOf = (job: string): string => job.slice(0, job.lastIndexOf('/'));

let made = 0;
/** Machines may have equal processes, started in the same µs. */
const drawn = Math.random().toString(36).slice(2, 10);

/** An id that no other job has had. */
export function newJobId(timer: string): string {
  made += 1;
  return `${timer}/${threadMark().text}.${drawn}.${made.toString(36)}`;
}

/**
 * The pattern, of Redis, of the ids of timers of a name whose keys begin with the prefix, and of those of their jobs.
 */
export const timerPattern = (name: string, prefix: string): string => `${encode(name)}/${encode(prefix)}*`;

/** What `encodeURIComponent` leaves, Redis takes as part of a pattern in `*`. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** The data of a job: what BullMQ's own fields do not have. Times in ms since 1970. */
export interface JobData {
  key: string;
  deadline: number;
  /** When it is to be delivered. The job's delay may end before: then it is delayed once more. */
  due: number;
  /** Attempts that have begun; more may be counted beside the data. */
  attempts: number;
  /** The payload's bytes in base64. */
  payload?: string;
  /** In the hands of a worker, what Redis has in place of all that, if it cannot be read. */
  damaged?: string;
}

/** Undefined if it cannot be read: it is damaged. */
export function readData<T extends JobData>(text: string): T | undefined {
  try {
    const { key, deadline, due, attempts, ...rest } = JSON.parse(text);
    if (typeof key !== 'string' || ![deadline, due, attempts].every(Number.isFinite)) return undefined;
    return { key, deadline, due, attempts, ...rest };
  } catch {
    return undefined; // not JSON
  }
}

/** The text of data that a worker can read. */
export function readableData(text: string, job: string): string {
  if (readData(text) !== undefined) return text;
  const { key } = nameAndKeyOf(timerIdOf(job));
  return JSON.stringify({ key, deadline: 0, due: 0, attempts: 0, damaged: text } satisfies JobData);
}

export const jobDataOf = ({ key, deadline, due, attempts, payload }: StoredTimer): JobData => ({
  key,
  deadline,
  due,
  attempts,
  ...(payload !== undefined && { payload: Buffer.from(payload).toString('base64') }),
});

/** `attempts`: those beside the data. */
export const timerOf = (name: string, data: JobData, attempts: number): StoredTimer => ({
  name,
  key: data.key,
  deadline: data.deadline,
  due: data.due,
  attempts: data.attempts + attempts,
  payload: data.payload === undefined ? undefined : Buffer.from(data.payload, 'base64'),
});
