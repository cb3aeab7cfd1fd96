import { isDate } from 'node:util/types';
import { InvalidArgumentError, InvalidDeadlineError, type Scheduler } from 'shardwheel';
import { expect } from 'vitest';
import { turn } from '../fixtures/event-loop.ts';

type Refusal = typeof InvalidArgumentError | typeof InvalidDeadlineError;

/** Which values an argument takes, and how the others are refused. */
export interface Rule {
  isGood(value: unknown): boolean;
  readonly error?: Refusal;
  readonly says?: string;
}

/** One argument of one call. */
export interface Place {
  readonly name: string;
  /** What a value that is not refused is answered with. */
  readonly answer: unknown;
  readonly rule: Rule;
  /** `live`: the id of a live timer. */
  call(scheduler: Scheduler, value: never, live: number): unknown;
}

export const codes = new Map<unknown, string>([
  [InvalidArgumentError, 'ERR_INVALID_ARG_TYPE'],
  [InvalidDeadlineError, 'ERR_INVALID_DEADLINE'],
]);

const rule = (error: Refusal, says: string, isGood: Rule['isGood']): Rule => ({ error, says, isGood });
const least = (bound: number) => (value: unknown) => typeof value === 'number' && value >= bound && value < 1 / 0;
const isNumber = (value: unknown) => Number.isFinite(value);
const isHint = (value: unknown) => isNumber(value) || typeof value === 'string';
const isFunction = (value: unknown) => typeof value === 'function';
const isOneNumber = (value: unknown) => Array.isArray(value); // the one array among the bad values is [5]
const isNone = (value: unknown) => value === undefined;
const orNone = (isGood: Rule['isGood']) => (value: unknown) => value === undefined || isGood(value);

const anything: Rule = { isGood: () => true };
/** Whatever is no id of a live timer is answered, and changes nothing. */
export const anId: Rule = { isGood: () => true };
const hint = rule(InvalidArgumentError, 'The workerHint must be a finite number', isHint); // some take groups
const deadline = rule(InvalidDeadlineError, 'The deadline must be a finite number', isNumber);
const delay = rule(InvalidDeadlineError, 'The delay must be a finite number', isNumber);
const limit = rule(
  InvalidDeadlineError,
  'The delay must be a finite number',
  (value) => isNumber(value) || value === 1 / 0,
);
const callback = rule(InvalidArgumentError, 'The callback must be a function', orNone(isFunction));
const array = rule(InvalidArgumentError, ' must be an array of numbers', isOneNumber);
const dates = (value: unknown) => isNumber(value) || isDate(value);
const date = rule(InvalidDeadlineError, 'The date must be a valid Date, or ms since 1970', dates);
const period = rule(InvalidArgumentError, 'The period must be a finite number of ms, at least a tick of 1', least(1));
const ms = (name: string) =>
  rule(InvalidArgumentError, `The options.${name} must be a finite number of ms, at least 0`, orNone(least(0)));
const missed = rule(InvalidArgumentError, "The options.missedCalls must be 'skip', 'burst' or 'delay'", isNone);
const floats = rule(InvalidArgumentError, 'The ids must be a Float64Array of at least 1 entries', isNone);
const names = (value: unknown) => typeof value === 'string' && value !== '';
const name = rule(InvalidArgumentError, 'The label must be a string of 1 to 128 characters', names);
const slacks = (value: unknown) => value === undefined || value === 2.5;
const slack = rule(InvalidArgumentError, 'The options.slack must be ms from 0 to 536870912', slacks);
const label = rule(
  InvalidArgumentError,
  'The options.label must be a label of this scheduler: scheduler.label(name)',
  isNone,
);
const factor = rule(InvalidArgumentError, 'The factor must be a number from 0 to 1', () => false);
const work = rule(InvalidArgumentError, 'The work must be a promise or a function', isFunction);
const times = (value: unknown) => isNumber(value) && (value as number) < 2 ** 53;
const time = rule(InvalidDeadlineError, 'The time must be a', times);

const id = expect.toSatisfy(Number.isSafeInteger);
const something = expect.anything();
const ids = (count: number) =>
  expect.toSatisfy(
    (given) => given instanceof Float64Array && given.length === count && given.every(Number.isSafeInteger),
  );

const every = (s: Scheduler, options: object) => s.scheduleEvery(1, 5, undefined, undefined, options);

const place = (name: string, answer: unknown, rule: Rule, call: Place['call']): Place => ({ name, answer, rule, call });

/** Every argument of every call that answers at once. */
export const places: readonly Place[] = [
  place('schedule(hint)', id, hint, (s, value) => s.schedule(value, s.now() + 9)),
  place('schedule(deadline)', id, deadline, (s, value) => s.schedule(1, value)),
  place('schedule(callback)', id, callback, (s, value) => s.schedule(1, s.now() + 9, value)),
  place('schedule(argument)', id, anything, (s, value) => s.schedule(1, s.now() + 9, () => undefined, value)),
  place('scheduleAfter(hint)', id, hint, (s, value) => s.scheduleAfter(value, 9)),
  place('scheduleAfter(delay)', id, delay, (s, value) => s.scheduleAfter(1, value)),
  place('scheduleAfter(callback)', id, callback, (s, value) => s.scheduleAfter(1, 9, value)),
  place('scheduleAt(date)', id, date, (s, value) => s.scheduleAt(1, value)),
  place('scheduleEvery(hint)', id, hint, (s, value) => s.scheduleEvery(value, 9)),
  place('scheduleEvery(period)', id, period, (s, value) => s.scheduleEvery(1, value)),
  place('scheduleEvery(first)', id, ms('first'), (s, value) => every(s, { first: value })),
  place('scheduleEvery(missedCalls)', id, missed, (s, value) => every(s, { missedCalls: value })),
  place('scheduleMany(hints)', ids(1), array, (s, value) => s.scheduleMany(value, [s.now() + 9])),
  place('scheduleMany(hints[])', ids(3), hint, (s, value) => s.scheduleMany([1, 2, value], [9, 9, 9])),
  place('scheduleMany(deadlines)', ids(1), array, (s, value) => s.scheduleMany([1], value)),
  place('scheduleMany(deadlines[])', ids(2), deadline, (s, value) => s.scheduleMany([1, 2], [9, value])),
  place('scheduleMany(ids)', ids(1), floats, (s, value) => s.scheduleMany([1], [s.now() + 9], value)),
  place('reschedule(id)', false, anId, (s, value) => s.reschedule(value, 5)),
  place('reschedule(deadline)', true, deadline, (s, value, live) => s.reschedule(live, value)),
  place('reschedule(deadline), stale', false, deadline, (s, value) => s.reschedule(-1, value)),
  place('rescheduleAfter(id)', false, anId, (s, value) => s.rescheduleAfter(value, 5)),
  place('rescheduleAfter(delay)', true, delay, (s, value, live) => s.rescheduleAfter(live, value)),
  place('rescheduleAt(date)', true, date, (s, value, live) => s.rescheduleAt(live, value)),
  place('cancel(id)', false, anId, (s, value) => s.cancel(value)),
  place('cancelMany(ids)', 0, array, (s, value) => s.cancelMany(value)),
  place('cancelMany(ids[])', 0, anId, (s, value) => s.cancelMany([value, value])),
  place('has(id)', false, anId, (s, value) => s.has(value)),
  place('deadlineOf(id)', undefined, anId, (s, value) => s.deadlineOf(value)),
  place('shardOf(hint)', id, hint, (s, value) => s.shardOf(value)),
  place('group(hint)', something, hint, (s, value) => s.group(value)),
  place('group().schedule(deadline)', id, deadline, (s, value) => s.group(1).schedule(value)),
  place('group().scheduleAfter(delay)', id, delay, (s, value) => s.group(1).scheduleAfter(value)),
  place('label(name)', something, name, (s, value) => s.label(value)),
  place('label(min)', something, ms('min'), (s, value) => s.label(`min ${String(value)}`, { min: value })),
  place('label(slack)', something, slack, (s, value) => s.label(`slack ${String(value)}`, { slack: value })),
  place('label().schedule(hint)', id, hint, (s, value) => s.label('lazy').schedule(value, s.now() + 9)),
  place('label().schedule(deadline)', id, deadline, (s, value) => s.label('lazy').schedule(1, value)),
  place('label().schedule(callback)', id, callback, (s, value) => s.label('lazy').schedule(1, s.now() + 9, value)),
  place('label().scheduleAfter(delay)', id, delay, (s, value) => s.label('lazy').scheduleAfter(1, value)),
  place('signalAfter(delay)', undefined, delay, (s, value) => s.signalAfter(value)[Symbol.dispose]()),
];

/** Those of the calls that answer by a promise. */
export const promisedPlaces: readonly Place[] = [
  place('advanceTo(now)', 0, time, (s, value) => s.advanceTo(value)),
  place('label().setScale(factor)', undefined, factor, (s, value) => s.label('scaled', { min: 100 }).setScale(value)),
  place('sleep(delay)', undefined, delay, (s, value) => Promise.race([s.sleep(value), turn()])),
  place('sleep(label)', undefined, label, (s, value) => Promise.race([s.sleep(5, { label: value }), turn()])),
  place('withTimeout(delay)', 'done', limit, (s, value) => s.withTimeout(Promise.resolve('done'), value)),
  place('withTimeout(work)', undefined, work, (s, value) => s.withTimeout(value, 5)),
];
