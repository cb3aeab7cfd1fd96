import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promises from 'node:timers/promises';
import { type PatchedProperty, propertiesIn } from '../../patched-property.ts';
import { process } from '../../process.ts';
import { like, native } from '../../time/native-timers.ts';
import { clearing, closing, creating, Numbers, refreshing, sleeping } from './instrumented-calls.ts';
import { type NodeTimeout, nodeClockOffset, watchLists } from './node-lists.ts';
import type { Recorder } from './recorder.ts';

const { promisify } = process.getBuiltinModule('node:util');

type Call = (...given: never[]) => unknown;

/** In ms. A delay that no program uses, so the probe's list is new. */
const PROBE_DELAY = 2 ** 31 - 2;
const nothing = (): void => undefined;

const nodes = native.timers as unknown as Record<string, Call>;

/**
 * Makes the recorder see all timers of this thread. Returns the call that reverts this; undefined if this Node keeps
 * its timers in an unknown way, and then nothing has changed.
 */
export function instrument(recorder: Recorder): (() => void) | undefined {
  const probe = nodes.setTimeout(nothing as never, PROBE_DELAY as never) as NodeTimeout;
  probe.unref();
  const isKnown = watchLists(recorder.watch, probe);
  if (!isKnown) {
    nodes.clearTimeout(probe as never);
    return undefined;
  }
  recorder.watch.isOwn = true;
  recorder.clockOffset = nodeClockOffset(() => probe.refresh() as NodeTimeout);
  nodes.clearTimeout(probe as never);
  // Before any of Node's code is warm: when the prototype of `new Timeout` changes, V8 discards what it has learnt
  // about it, and does not learn it again. Then each store would be a look-up in all later timers of this thread.
  const numbers = new Numbers();
  const places = [
    ...functionPlaces(recorder, numbers),
    ...methodPlaces(recorder, numbers, Object.getPrototypeOf(probe)),
  ];
  for (const place of places) place.take();
  syncBuiltinESMExports();
  recorder.watch.isOwn = false;
  recorder.watch.inserted = undefined;
  return () => {
    for (const place of places) place.giveBack();
    syncBuiltinESMExports();
  };
}

function functionPlaces(recorder: Recorder, numbers: Numbers): PatchedProperty[] {
  const setTimeout = creating(recorder, nodes.setTimeout, 'timeouts');
  // Like Node's: it returns the function of timers/promises, which is ours.
  const custom = Object.getOwnPropertyDescriptor(nodes.setTimeout, promisify.custom);
  if (custom !== undefined) Object.defineProperty(setTimeout, promisify.custom, custom);
  const functions = {
    setTimeout,
    clearTimeout: clearing(recorder, nodes.clearTimeout, numbers),
    setInterval: creating(recorder, nodes.setInterval, 'intervals'),
    clearInterval: clearing(recorder, nodes.clearInterval, numbers),
  };
  const sleeps = {
    setTimeout: sleeping(recorder, native.promises.setTimeout, (given) => given.length > 2),
    setInterval: asyncIntervals(recorder, native.promises.setInterval),
  };
  const { wait } = Object.getPrototypeOf(promises.scheduler) as { wait: Call };
  return [
    ...propertiesIn(globalThis, functions),
    ...propertiesIn(timers, functions),
    ...propertiesIn(promises, sleeps),
    ...propertiesIn(Object.getPrototypeOf(promises.scheduler), {
      wait: sleeping(recorder, wait, (given) => given.length > 1),
    }),
  ];
}

function methodPlaces(recorder: Recorder, numbers: Numbers, prototype: NodeTimeout): PatchedProperty[] {
  const methods = prototype as unknown as Record<PropertyKey, Call>;
  const dispose = Object.getOwnPropertySymbols(prototype).find((symbol) => symbol.description?.endsWith('dispose'));
  const toPrimitive = methods[Symbol.toPrimitive];
  return propertiesIn(prototype, {
    refresh: refreshing(recorder, methods.refresh),
    close: closing(recorder, methods.close),
    ...(dispose === undefined ? {} : { [dispose]: closing(recorder, methods[dispose]) }),
    [Symbol.toPrimitive]: like(toPrimitive, function (this: NodeTimeout, ...given: never[]): unknown {
      const number = Reflect.apply(toPrimitive, this, given);
      if (!this._destroyed) numbers.add(number, this);
      return number;
    }),
  });
}

/** Node sets an async interval's timer at the first call of `next`. */
function asyncIntervals(recorder: Recorder, setInterval: Call): Call {
  return like(setInterval, function (this: unknown, ...given: never[]): unknown {
    const generator = Reflect.apply(setInterval, this, given) as AsyncGenerator;
    const next = sleeping(recorder, generator.next as Call, () => true);
    return Object.defineProperty(generator, 'next', { value: next, configurable: true, writable: true });
  });
}
