import { promisify } from 'node:util';
import { native } from '../time/native-timers.ts';
import { timers as face } from './default-timers.ts';

// biome-ignore lint/suspicious/noExplicitAny: functions of any kind, and what they take
type Call = (...given: any[]) => any;

/**
 * What a registered program calls: the face's functions, while the thread is registered. Somebody may have wrapped one of
 * these and keep it for ever; so once the registration has been taken back they pass each call on to Node's.
 */
let isOn = false;

/** Whether calls go to the face. */
export function passToFace(on: boolean): void {
  isOn = on;
}

const { timers: nodes, promises: nodesPromises } = native;

const setTimeout: Call = function setTimeout(callback, delay, ...given) {
  return isOn ? face.setTimeout(callback, delay, ...given) : nodes.setTimeout(callback, delay, ...given);
};

const setInterval: Call = function setInterval(callback, delay, ...given) {
  return isOn ? face.setInterval(callback, delay, ...given) : nodes.setInterval(callback, delay, ...given);
};

const promises = {
  setTimeout: alike(nodesPromises.setTimeout, function setTimeout(...given: [number, unknown]) {
    return isOn ? face.promises.setTimeout(...given) : nodesPromises.setTimeout(...given);
  }),
  setInterval: alike(nodesPromises.setInterval, function setInterval(...given: [number, unknown]) {
    return isOn ? face.promises.setInterval(...given) : nodesPromises.setInterval(...given);
  }),
  scheduler: Object.create(nodesPromises.scheduler, {
    wait: {
      value: alike(nodesPromises.scheduler.wait, function wait(...given: [number]) {
        return isOn ? face.promises.scheduler.wait(...given) : nodesPromises.scheduler.wait(...given);
      }),
      writable: true,
      configurable: true,
    },
  }) as typeof nodesPromises.scheduler,
};

Object.defineProperty(setTimeout, promisify.custom, { enumerable: true, get: () => promises.setTimeout });

/** In place of Node's functions of these names. Those that clear find out by themselves whose timer it is. */
export const registered = {
  timers: {
    setTimeout: alike(nodes.setTimeout, setTimeout),
    clearTimeout: alike(nodes.clearTimeout, function clearTimeout(handle) {
      face.clearTimeout(handle);
    }),
    setInterval: alike(nodes.setInterval, setInterval),
    clearInterval: alike(nodes.clearInterval, function clearInterval(handle) {
      face.clearInterval(handle);
    }),
    ...deprecated(),
  },
  promises,
};

/** See enrolled.ts: as many of them as this Node has. */
function deprecated(): Record<string, Call> {
  const calls: Record<string, Call> = {};
  const [ours, theirs] = [face, nodes] as unknown as Record<string, Call>[];
  for (const name of ['enroll', 'unenroll', 'active', '_unrefActive']) {
    const call = ours[name];
    if (call === undefined) continue;
    const endsBoth = name === 'unenroll';
    calls[name] = alike(theirs[name], (...given) => (isOn || endsBoth ? call(...given) : theirs[name](...given)));
  }
  return calls;
}

/** Gives a function the name and the length of Node's. */
function alike<F extends Call>(nodes: Call, ours: F): F {
  for (const key of ['name', 'length'] as const) {
    Object.defineProperty(ours, key, { value: nodes[key], configurable: true });
  }
  return ours;
}
