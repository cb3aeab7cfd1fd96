import { join } from 'node:path';
import { builtFolder, isCommonJs, requireFile } from '../package-files.ts';
import { process } from '../process.ts';
import { requireNode } from '../runtime.ts';
import { like, native } from '../time/native-timers.ts';
import { deprecatedFunctions } from './deprecated-functions.ts';
import { promisesLike, timersLike } from './likeness.ts';
import type { registeredWheel } from './registered-wheel.ts';
import { Takeover } from './takeover.ts';
import type { Timeout } from './timeout.ts';
import { takeOverFrom, timersMode } from './timers-mode.ts';

requireNode('shardwheel/register', 'use createScheduler of shardwheel');

const nodes = native.timers;
const { apply } = Reflect;

const isAlways = timersMode === 'always';

export const takeover: Takeover = new Takeover(takeOverFrom, () => {
  const folder = builtFolder();
  if (folder === undefined) return undefined;
  const file = requireFile<{ registeredWheel: typeof registeredWheel }>(
    join(folder, `registered-wheel.${isCommonJs() ? 'cjs' : 'js'}`),
  );
  return file.registeredWheel(isAlways, (error) => takeover.fail(error));
});

/**
 * Whether the thread is registered. A package may have wrapped a function and keep it for ever, so after `unregister`
 * they pass each call on to Node's.
 */
let isOn = false;

export function setOn(on: boolean): void {
  isOn = on;
  if (on && isAlways && takeover.wheel === undefined) takeover.serveAlways();
}

/** The wheel's functions, while they serve. */
const dropIn = () => (isOn ? takeover.dropIn : undefined);

// `arguments` is used because a rest parameter would create an array for each call.
// biome-ignore-start lint/complexity/noArguments: see above
const setTimeout = function (this: unknown, callback: unknown, delay?: unknown): unknown {
  if (takeover.dropIn !== undefined && isOn) return apply(takeover.dropIn.setTimeout, this, arguments);
  if (isOn) takeover.set(delay);
  if (arguments.length > 2) return apply(nodes.setTimeout, this, arguments);
  return nodes.setTimeout(callback as never, delay as never);
};

const setInterval = function (this: unknown): unknown {
  const wheel = dropIn();
  if (wheel !== undefined) return apply(wheel.setInterval, this, arguments);
  if (isOn) takeover.setInterval();
  return apply(nodes.setInterval, this, arguments);
};
// biome-ignore-end lint/complexity/noArguments: see above

type Handle = NodeJS.Timeout | string | number | undefined;

/** Clears a timeout or an interval, whoever serves it, by object or number. */
function clearTimeout(handle: Handle): void {
  if (typeof handle === 'object' && handle !== null) {
    if (takeover.wheel?.owns(handle)) {
      handle.close();
      return;
    }
    takeover.clear(handle as object);
  }
  nodes.clearTimeout(handle);
}

/** A separate function, as in Node. */
function clearInterval(handle: Handle): void {
  clearTimeout(handle);
}

/** Ignores timeouts, which are not immediates. Node 20 and 22 would accept one, and run no immediates from then on. */
function clearImmediate(handle: unknown): void {
  const isOther =
    typeof handle === 'object' &&
    handle !== null &&
    !(handle as NodeJS.Immediate & { _onImmediate: unknown })._onImmediate;
  if (!isOther) nodes.clearImmediate(handle as NodeJS.Immediate); // refuses a primitive as its release does
}

const promises = promisesLike(
  (delay?: number, value?: unknown, options?: object) => {
    const wheel = dropIn();
    if (wheel !== undefined) return wheel.promises.setTimeout(delay, value, options);
    if (isOn) takeover.set(delay);
    return native.promises.setTimeout(delay, value, options);
  },
  (delay?: number, value?: unknown, options?: object) =>
    (dropIn()?.promises ?? native.promises).setInterval(delay, value, options),
);

const timers = timersLike({ setTimeout, clearTimeout, setInterval, clearInterval, clearImmediate }, promises);

/** Node's own method, without its object: it works on any receiver. */
const nodesActiveResources = process.getActiveResourcesInfo;
const getActiveResourcesInfo = like(nodesActiveResources, () => {
  const found = nodesActiveResources();
  return takeover.wheel?.activeResources(found) ?? found;
});

const deprecated = deprecatedFunctions((item): item is Timeout => takeover.wheel?.owns(item) === true);

/** The functions that replace Node's functions of the same names. The deprecated ones are no globals. */
export const registered = { timers, deprecated, promises, process: { getActiveResourcesInfo } };
