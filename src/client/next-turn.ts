import { process } from '../process.ts';
import { setImmediate, setTimeout } from '../time/native-timers.ts';

/**
 * Calls a function in the next turn of the event loop, by setImmediate; if that is refused by a timer, and if that is also
 * refused by a message. If the turn never came, all timers would stop. Returns the immediate, if there is one.
 */
export function inNextTurn<Given extends unknown[]>(
  callback: (...given: Given) => void,
  ...given: Given
): NodeJS.Immediate | undefined {
  try {
    return setImmediate(callback, ...given);
  } catch {
    // Refused: try the other ways.
    otherwise(() => callback(...given));
    return undefined;
  }
}

function otherwise(callback: () => void): void {
  try {
    setTimeout(callback, 0);
  } catch {
    // Timers are refused as well.
    const { port1, port2 } = new (process.getBuiltinModule('node:worker_threads').MessageChannel)();
    port1.once('message', () => {
      port1.close();
      callback();
    });
    port2.postMessage(null);
  }
}
