// The properties of Node's timer functions, as a program sees them.
const timers = require('timers');
const promises = require('timers/promises');
const { promisify } = require('util');

const shapeOf = (target) => {
  const shape = {};
  for (const key of Reflect.ownKeys(target)) {
    const { value, get, set, ...flags } = Object.getOwnPropertyDescriptor(target, key);
    shape[String(key)] = { ...flags, kind: typeof value, get: typeof get, set: typeof set };
    if (typeof value === 'function') Object.assign(shape[String(key)], { name: value.name, length: value.length });
  }
  return shape;
};
const functions = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'];
const globals = Object.fromEntries(
  functions.map((name) => {
    const { value, ...flags } = Object.getOwnPropertyDescriptor(globalThis, name);
    return [name, { ...flags, isTimers: value === timers[name], own: shapeOf(value) }];
  }),
);
const { get: promisified, ...flags } = Object.getOwnPropertyDescriptor(setTimeout, promisify.custom);
const refusals = [
  () => setTimeout('x'),
  () => setInterval(),
  () => Object.getPrototypeOf(promises.scheduler).yield.call({}),
  () => promises.scheduler.constructor(),
].map((call) => {
  try {
    return call();
  } catch ({ name, code, message }) {
    return { name, code, message };
  }
});
const made = new setTimeout(() => undefined, 1).constructor.name;
const enumerated = [];
for (const key in globalThis) enumerated.push(key);

process.stdout.write(
  JSON.stringify({
    globals,
    timers: shapeOf(timers),
    promises: shapeOf(promises),
    promisified: [flags, promisified.call(setTimeout) === promises.setTimeout],
    refusals,
    made,
    enumerated,
    process: process.getActiveResourcesInfo.name,
  }),
);
