import type { Scheduler } from 'shardwheel';

const notNumbers = ['12', '', null, undefined, {}, [5], true, 5n, Symbol('five'), () => 5, new Date(0)];
const notFinite = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const notHints = [...notFinite, null, undefined, {}, [5], true, 5n, Symbol('five'), () => 5];
const notFunctions = [null, 5, 'callback', {}, [], true, 5n, Symbol('five')];
const notIds = [...notNumbers, ...notFinite, -1, 0.5, 2 ** 53, 2 ** 60, -(2 ** 40)];
const notArrays = [5, 'ids', null, undefined, true, 5n, Symbol('five'), {}, { length: -1 }, { length: 0.5 }];

interface HostileCall {
  readonly values: readonly unknown[];
  /** Makes the call with one of the values in some argument's place; `id` may be live. */
  call(scheduler: Scheduler, value: never, id: number): unknown;
  /** What it answers; where there is none, it throws an error that has a code. */
  readonly answer?: unknown;
  /** Before it comes to the wrong value it starts timers, which may be too many. */
  readonly startsTimers?: boolean;
}

/** A wrong value in each place of each call. None may change anything. */
export const hostileCalls: readonly HostileCall[] = [
  { values: notHints, call: (scheduler, value) => scheduler.schedule(value, 5) },
  { values: [...notNumbers, ...notFinite], call: (scheduler, value) => scheduler.schedule('a', value) },
  { values: notFunctions, call: (scheduler, value) => scheduler.schedule('a', 5, value) },
  { values: notHints, call: (scheduler, value) => scheduler.scheduleAfter(value, 5) },
  { values: [...notNumbers, ...notFinite], call: (scheduler, value) => scheduler.scheduleAfter('a', value) },
  { values: notFunctions, call: (scheduler, value) => scheduler.scheduleAfter('a', 5, value) },
  { values: notArrays, call: (scheduler, value) => scheduler.scheduleMany(value, [1]) },
  { values: notArrays, call: (scheduler, value) => scheduler.scheduleMany([1], value) },
  {
    values: notHints,
    call: (scheduler, value) => scheduler.scheduleMany([1, 2, value], [1, 2, 3]),
    startsTimers: true,
  },
  {
    values: [...notNumbers, ...notFinite],
    call: (scheduler, value) => scheduler.scheduleMany([1, 2], [1, value]),
    startsTimers: true,
  },
  { values: [...notNumbers, ...notFinite], call: (scheduler, value, id) => scheduler.reschedule(id, value) },
  { values: [...notNumbers, ...notFinite], call: (scheduler, value, id) => scheduler.rescheduleAfter(id, value) },
  { values: notIds, call: (scheduler, value) => scheduler.reschedule(value, 5), answer: false },
  { values: notIds, call: (scheduler, value) => scheduler.rescheduleAfter(value, 5), answer: false },
  { values: notIds, call: (scheduler, value) => scheduler.cancel(value), answer: false },
  { values: notIds, call: (scheduler, value) => scheduler.cancelMany([value, value]), answer: 0 },
  { values: notArrays, call: (scheduler, value) => scheduler.cancelMany(value) },
  { values: notIds, call: (scheduler, value) => scheduler.has(value), answer: false },
  { values: notIds, call: (scheduler, value) => scheduler.deadlineOf(value), answer: undefined },
  { values: notHints, call: (scheduler, value) => scheduler.shardOf(value) },
  { values: notHints, call: (scheduler, value) => scheduler.label('lazy', { slack: 50 }).schedule(value, 5) },
  { values: [...notNumbers, ...notFinite], call: (scheduler, value) => scheduler.label('lazy').schedule('a', value) },
  { values: [...notNumbers, ...notFinite, -1, 0], call: (scheduler, value) => scheduler.scheduleEvery('a', value) },
];

/** Makes one of the calls; says what is wrong with the outcome, if anything is. */
export function callHostile(scheduler: Scheduler, place: number, value: number, id: number): string | undefined {
  const index = place % hostileCalls.length;
  const hostile = hostileCalls[index];
  const wrong = hostile.values[value % hostile.values.length];
  const what = `hostile call ${index} with ${String(wrong)}`;
  try {
    const answer = hostile.call(scheduler, wrong as never, id);
    if (!('answer' in hostile)) return `${what} was taken`;
    return answer === hostile.answer ? undefined : `${what} was answered with ${String(answer)}`;
  } catch (error) {
    const { code } = error as { code?: string };
    if (!('answer' in hostile) && /^ERR_INVALID_(ARG_TYPE|DEADLINE)$/.test(code ?? '')) return undefined;
    if (code === 'ERR_CAPACITY_EXCEEDED' && hostile.startsTimers) return undefined;
    return `${what} threw ${error}`;
  }
}
