export { createTimers, type Timers, type TimersOptions } from './timers/create-timers.ts';
export {
  clearImmediate,
  clearInterval,
  clearTimeout,
  promises,
  setImmediate,
  setInterval,
  setTimeout,
  timers as default,
  useScheduler,
} from './timers/default-timers.ts';
export type { MissedCalls } from './timers/missed-calls.ts';
export type { TimersPromises } from './timers/promise-timers.ts';
export { Timeout } from './timers/timeout.ts';
