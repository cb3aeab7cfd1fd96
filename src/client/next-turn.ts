import { MessageChannel } from 'node:worker_threads';
import { setImmediate, setTimeout } from '../time/native-timers.ts';

/**
 * Calls a function in the next turn of the event loop, as setImmediate does; where that is refused by a timer, and where
 * that is refused as well by a message. A turn that never comes would stop all timers. Returns the immediate, if it is one.
 */
export function inNextTurn<Given extends unknown[]>(
  callback: (...given: Given) => void,
  ...given: Given
): NodeJS.Immediate | undefined {
  try {
    return setImmediate(callback, ...given);
  } catch {
    // Refused: whatever else brings a turn.
    otherwise(() => callback(...given));
    return undefined;
  }
}

function otherwise(callback: () => void): void {
  try {
    setTimeout(callback, 0);
  } catch {
    // No timer of any kind is to be had.
    const { port1, port2 } = new MessageChannel();
    port1.once('message', () => {
      port1.close();
      callback();
    });
    port2.postMessage(null);
  }
}
