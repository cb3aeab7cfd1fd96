import { isFloat64Array, isSharedArrayBuffer, isTypedArray } from 'node:util/types';
import { requireDeadline } from '../arguments.ts';
import type { Client } from '../client/client.ts';
import type { ClientLane } from '../client/client-lane.ts';
import { InvalidArgumentError, SchedulerClosedError } from '../errors.ts';

/** See {@link Scheduler.scheduleMany}. */
export function scheduleMany(
  client: Client,
  workerHints: ArrayLike<number>,
  deadlines: ArrayLike<number>,
  ids: Float64Array | undefined,
): Float64Array {
  const count = requireLength('workerHints', workerHints);
  const given = requireLength('deadlines', deadlines);
  if (given !== count) {
    throw new InvalidArgumentError('deadlines', `must be as many as the workerHints (${count})`, given);
  }
  const most = Math.min(count, client.capacity + 1);
  const hints = readAll(workerHints, most);
  const times = readAll(deadlines, most);
  const wanted = requireIds(ids, count);
  // An error shows what it refuses, which may run code of the program: so that comes before the first timer.
  if (!isTypedArray(workerHints)) for (let i = 0; i < most; i++) client.shardOf(hints[i]);
  if (!isTypedArray(deadlines)) for (let i = 0; i < most; i++) requireDeadline(times[i]);
  if (client.isClosed) throw new SchedulerClosedError('scheduleMany'); // by code that the reading ran
  // No other code writes to the ids until all are scheduled: if one fails, the others are cancelled.
  const written =
    wanted !== undefined && isUnshared(wanted, hints, times)
      ? wanted
      : new Float64Array(Math.min(count, client.capacity));
  startAll(client, hints, times, written, count);
  if (wanted === undefined || wanted === written) return written;
  Float64Array.prototype.set.call(wanted, written); // not the caller's method
  return wanted;
}

/**
 * Starts all timers, or none if one is refused: what has been started is undone before anybody hears of that. No other
 * code may write to `ids`. Throws like `Client.start`.
 */
function startAll(
  client: Client,
  hints: ArrayLike<number>,
  deadlines: ArrayLike<number>,
  ids: Float64Array,
  count: number,
): void {
  const { plain } = client.registry;
  for (let i = 0; i < count; i++) {
    const deadline = deadlines[i]; // read once: another thread may write to it
    let lane: ClientLane;
    let slot: number;
    try {
      requireDeadline(deadline);
      lane = client.laneAt(client.shardOf(hints[i]));
      slot = client.schedule(lane, deadline, plain, undefined, undefined);
    } catch (error) {
      undo(client, ids, i);
      throw error;
    }
    if (slot < 0) {
      undo(client, ids, i);
      throw client.refusal(lane);
    }
    ids[i] = lane.table.idOf(slot);
  }
}

/** As if the first timers of a call had never been scheduled. */
function undo(client: Client, ids: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) client.cancel(ids[i]);
  client.started -= count;
}

/** See {@link Scheduler.cancelMany}. */
export function cancelMany(client: Client, ids: ArrayLike<number>): number {
  const count = requireLength('ids', ids);
  const all = readAll(ids, count);
  let live = 0;
  // Where somebody waits, code of the program may run, and close the scheduler.
  for (let i = 0; i < count && !client.isClosed; i++) if (client.cancel(all[i])) live += 1;
  return live;
}

// Arrays may come from another realm or be of the caller's own classes. So they are recognised by internal slots, and
// none of their methods is called: those would ask the caller's classes what to return (`Symbol.species`).

const lengthOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Float64Array.prototype), 'length')?.get as (
  this: NodeJS.TypedArray,
) => number;

/**
 * Maximum of elements of an array that is read and copied: a length that only is said costs neither time nor memory.
 */
const MAX_UNTYPED = 2 ** 24;

function requireLength(argument: string, value: ArrayLike<number>): number {
  if (isTypedArray(value)) return lengthOf.call(value);
  const length = lengthOfArrayLike(value);
  if (length === undefined) throw new InvalidArgumentError(argument, 'must be an array of numbers', value);
  if (length > MAX_UNTYPED) {
    const limit = `must be an array of at most ${MAX_UNTYPED} numbers, unless it is a Float64Array`;
    throw new InvalidArgumentError(argument, `${limit}; its length is ${length}`, value);
  }
  return length;
}

/** Undefined if it is no array, nor like one. */
function lengthOfArrayLike(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    const length: unknown = Reflect.get(value, 'length');
    return Number.isSafeInteger(length) && (length as number) >= 0 ? (length as number) : undefined;
  } catch {
    return undefined; // a getter, or a proxy, of the program
  }
}

/** Returns the array for the ids; undefined if one must be created. Throws InvalidArgumentError. */
function requireIds(ids: unknown, count: number): Float64Array | undefined {
  if (ids === undefined) return undefined;
  if (!isFloat64Array(ids) || lengthOf.call(ids) < count) {
    throw new InvalidArgumentError('ids', `must be a Float64Array of at least ${count} entries`, ids);
  }
  return ids;
}

/**
 * Reads `count` elements of an array. Unless it is a typed array, this may run code of the caller. That code must not
 * run between two timers of one call, so all elements are read before the first timer.
 */
function readAll(values: ArrayLike<number>, count: number): ArrayLike<number> {
  if (isTypedArray(values)) return values as ArrayLike<number>;
  const read: number[] = [];
  for (let i = 0; i < count; i++) read.push(values[i]);
  return read;
}

/** Whether no other code can change the array meanwhile, and writing to it changes none of the inputs. */
function isUnshared(ids: Float64Array, ...inputs: ArrayLike<number>[]): boolean {
  const { buffer } = ids;
  return !isSharedArrayBuffer(buffer) && inputs.every((input) => !isTypedArray(input) || input.buffer !== buffer);
}
