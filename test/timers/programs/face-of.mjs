// The functions of node:timers, of whichever face. Intervals of ours do as Node's where a call is late.
import * as node from 'node:timers';

const options = { missedCalls: 'delay' };

export async function faceOf(name) {
  if (name === 'node:timers') return node;
  if (name === 'profiled' || name.startsWith('registered, ')) return registered();
  if (name === 'registered') return asNodes(registered());
  const { createScheduler } = await import('shardwheel');
  const face = await import('shardwheel/timers');
  if (name === 'inline') return face.createTimers(createScheduler({ shards: 0 }), options);
  face.useScheduler(createScheduler({ shards: 'auto' }), options);
  return face;
}

/** The wheel of SHARDWHEEL_TIMERS=always, which has the behaviour of the modules. */
function asNodes(face) {
  const timeout = face.setTimeout(() => undefined, 1);
  const own = Object.getOwnPropertySymbols(timeout).map((symbol) => timeout[symbol]);
  own.find((value) => typeof value === 'function')().missedCalls = options.missedCalls;
  face.clearTimeout(timeout);
  return face;
}

function registered() {
  const { promises } = node;
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
  return { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises };
}
