import { timersOf } from './create-timers.ts';
import { defaultSource } from './default-timers.ts';

/**
 * What a registered program calls: the face's functions, while the thread is registered. Somebody may have wrapped one of
 * these and keep it for ever; so once the registration has been taken back they pass each call on to Node's. Those that clear
 * find out by themselves whose timer it is.
 */
let isOn = false;

/** Whether calls go to the face. */
export function passToFace(on: boolean): void {
  isOn = on;
}

const { setImmediate, promises, ...timers } = timersOf(() => (isOn ? defaultSource() : undefined));
const { setTimeout, setInterval, scheduler } = promises;

/** In place of Node's functions of these names. */
export const registered = { timers, promises: { setTimeout, setInterval, scheduler } };
