export { scheduler, setImmediate, setInterval, setTimeout } from '../timers/default-promises.ts';
export { promises as default } from '../timers/default-timers.ts';
