// A preload like that of a monitoring agent: it wraps the timer functions that it finds, and counts their calls.
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promises from 'node:timers/promises';

export const agent = { calls: 0, wrappers: [] };
for (const target of [globalThis, timers, promises]) {
  for (const name of ['setTimeout', 'setInterval']) {
    const wrapped = target[name];
    target[name] = Object.assign(function (...given) {
      agent.calls += 1;
      return Reflect.apply(wrapped, this, given);
    }, wrapped);
    agent.wrappers.push(() => target[name]);
  }
}
const wrappers = agent.wrappers.map((read) => read());
/** Whether all of its wrappers stand where it has put them. */
agent.stands = () => agent.wrappers.every((read, at) => read() === wrappers[at]);
syncBuiltinESMExports();
