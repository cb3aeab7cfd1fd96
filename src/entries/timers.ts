export type { MissedCalls } from '../client/call-grids.ts';
export { createTimers, type Timers } from '../timers/create-timers.ts';
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
} from '../timers/default-timers.ts';
export type { TimersPromises } from '../timers/likeness.ts';
export { Timeout } from '../timers/timeout.ts';
export type { LongDelays, TimersOptions } from '../timers/timeout-source.ts';
