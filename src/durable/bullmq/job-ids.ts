/**
 * Ids of BullMQ's jobs. A timer has the deduplication id `name/key`, each part percent-encoded, as BullMQ's ids have no colon. Each
 * `put` makes a job with an id of its own, `name/key/nonce`.
 */
export const timerId = (name: string, key: string): string => `${encode(name)}/${encode(key)}`;

let made = 0;
const process = Math.random().toString(36).slice(2, 10);

/** An id that no other job has had. */
export function newJobId(timer: string): string {
  made += 1;
  return `${timer}/${process}${made.toString(36)}`;
}

/** The pattern, of Redis, of the ids of timers of a name whose keys begin with the prefix, and of those of their jobs. */
export const timerPattern = (name: string, prefix: string): string => `${encode(name)}/${encode(prefix)}*`;

/** Texts that stay as they are. */
const PLAIN = /^[\w.~-]*$/;

/** What `encodeURIComponent` leaves, Redis takes as part of a pattern in `*`. */
const encode = (text: string): string => (PLAIN.test(text) ? text : encodeAll(text));

const encodeAll = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
