import { promises } from './default-timers.ts';

export const { setTimeout, setInterval, setImmediate, scheduler } = promises;
