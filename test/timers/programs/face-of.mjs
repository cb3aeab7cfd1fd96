// The functions of node:timers, of whichever face. Intervals of ours do as Node's where a call is late.
import * as node from 'node:timers';

const options = { missedCalls: 'delay' };

export async function faceOf(name) {
  if (name === 'node:timers') return node;
  if (name === 'profiled' || name.startsWith('registered, ')) return registered();
  const { createScheduler } = await import('shardwheel');
  const face = await import('shardwheel/timers');
  if (name === 'inline') return face.createTimers(createScheduler({ shards: 0 }), options);
  face.useScheduler(createScheduler({ shards: 'auto' }), options);
  return name === 'registered' ? registered() : face;
}

function registered() {
  const { promises } = node;
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
  return { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises };
}
