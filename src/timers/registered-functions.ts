import { timersOf } from './create-timers.ts';
import { defaultSource } from './default-timers.ts';

/**
 * The functions that a registered program calls: the drop-in ones, while the thread is registered. A package may have wrapped one
 * and keep it for ever, so after `unregister` they pass each call on to Node's. The functions that clear find out by themselves
 * whose timer it is.
 */
let isOn = false;

/** Sets whether calls go to the drop-in functions. */
export function passToFace(on: boolean): void {
  isOn = on;
}

const { setImmediate, promises, ...timers } = timersOf(() => (isOn ? defaultSource() : undefined));
const { setTimeout, setInterval, scheduler } = promises;

/** The functions that replace Node's functions of the same names. */
export const registered = { timers, promises: { setTimeout, setInterval, scheduler } };
