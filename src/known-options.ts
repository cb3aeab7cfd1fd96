import { InvalidArgumentError, InvalidConfigError } from './errors.ts';

/** Returns the value of an option that is an integer. Throws InvalidConfigError. */
export function requireInteger(option: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw new InvalidConfigError(option, `must be an integer from ${min} to ${max}`, value);
}

/** Returns the value of an option in ms. Throws InvalidConfigError. */
export function requireMilliseconds(option: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw new InvalidConfigError(option, `must be a number of ms from ${min} to ${max}`, value);
}

/** The number of letters to add, drop or change between two words, by Levenshtein. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + (letter === other[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length];
}

/**
 * Names that options of this kind have elsewhere, and what they are called here; where several are given, the first
 * that is known.
 */
const MEANT: Readonly<Record<string, string>> = {
  shards:
    'threads workers worker threadcount workercount numthreads numworkers threadpoolsize poolsize maxthreads maxworkers minthreads minworkers',
  capacity: 'limit maxtimers maxsize size max maxlength',
  tick: 'precision resolution granularity tickms tickduration interval',
  clock: 'time timer fake faketime faketimers manual now',
  wheel: 'engine preset wheelsize',
  maxBatch: 'batch batchsize',
  slack: 'tolerance leeway coalesce jitter late maxlateness',
  ioFirst: 'pollfirst iobeforetimers',
  signal: 'abort abortsignal aborted controller abortcontroller cancel canceltoken',
  asyncContext: 'context asynclocalstorage als',
  workerHint: 'hint key shard group shardkey partition',
  label: 'name kind tag type',
  min: 'minimum least floor',
  ref: 'unref hold holds keepalive keepprocess',
  first: 'initial initialdelay firstdelay delay startafter immediate',
  missedCalls: 'missed catchup burst onmissed',
  overlap: 'overlapping concurrent reentrant',
  everywhere: 'global all allclients allthreads',
  jump: 'skip step',
  port: 'listen',
  host: 'address hostname bind',
  token: 'secret password auth key',
  path: 'folder dir directory file filename',
  connection: 'redis client url',
  queue: 'queuename',
  store: 'storage backend database db',
  concurrency: 'parallel parallelism',
  retry: 'retries attempts maxattempts backoff',
  attempts: 'retries maxattempts tries times',
  within: 'timeout ms after delay',
  timeout: 'patience wait limit deadline',
  name: 'prefix',
};

/** Longer names are nobody's: they are not compared, and not shown whole. */
const MAX_NAME_LENGTH = 64;

/** The known name that was probably meant, by what it says or by its spelling; undefined if none is similar. */
function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const lower = name.toLowerCase();
  const said = lower.replaceAll(/[^a-z]/g, '');
  const meant = known.find((each) => Object.hasOwn(MEANT, each) && MEANT[each].split(' ').includes(said));
  if (meant !== undefined) return meant;
  const [best] = known
    .map((each) => ({ each, letters: distance(lower, each.toLowerCase()) }))
    .sort((one, other) => one.letters - other.letters);
  return best !== undefined && best.letters <= Math.max(2, name.length / 3) ? best.each : undefined;
}

/**
 * Throws InvalidConfigError for an unknown option, with the name that was probably meant: a misspelt option would
 * silently have no effect. `known`: an object with each option's name as a key; `renamed`: what has become of old
 * names.
 */
export function refuseUnknown(
  options: object,
  known: object,
  what = 'options',
  renamed: Readonly<Record<string, string>> = {},
): void {
  for (const name of namesOf(options, what)) {
    const value: unknown = options[name as never];
    if (Object.hasOwn(known, name) || value === undefined) continue;
    const names = Object.keys(known);
    const meant = nearest(name, names);
    if (Object.hasOwn(renamed, name)) {
      throw new InvalidConfigError(`${what}.${name}`, `is no option any more: ${renamed[name]}`, value);
    }
    const remedy = meant === undefined ? `there are ${names.join(', ')}` : `did you mean '${meant}'?`;
    const shown = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
    throw new InvalidConfigError(`${what}.${shown}`, `is not an option: ${remedy}`, value);
  }
}

/** The names of the options. Throws InvalidArgumentError for a proxy that does not tell them, such as a revoked one. */
function namesOf(options: object, what: string): string[] {
  try {
    return Object.keys(options);
  } catch {
    // a trap of the proxy
    throw new InvalidArgumentError(what, 'must be an object that can be read', options);
  }
}

/** Does the same, and throws InvalidArgumentError if the options are not an object. */
export function requireOptions(
  options: unknown,
  known: object,
  what = 'options',
  requirement = 'must be an object',
  renamed?: Readonly<Record<string, string>>,
): void {
  if (typeof options !== 'object' || options === null) throw new InvalidArgumentError(what, requirement, options);
  refuseUnknown(options, known, what, renamed);
}
