// Every property is after the registration as it was before, and what was set meanwhile goes on.
import assert from 'node:assert';
import { createRequire } from 'node:module';
import timers, * as namespace from 'node:timers';
import promises, * as promisesNamespace from 'node:timers/promises';
import { promisify } from 'node:util';

const properties = () => ({
  global: Object.getOwnPropertyDescriptors(globalThis),
  timers: Object.getOwnPropertyDescriptors(timers),
  promises: Object.getOwnPropertyDescriptors(promises),
  getActiveResourcesInfo: Object.getOwnPropertyDescriptor(process, 'getActiveResourcesInfo'),
  namespace: { ...namespace },
  promisesNamespace: { ...promisesNamespace },
  promisify: promisify(setTimeout),
});
const before = properties();
const { unregister } = await import('shardwheel/register');
const { Timeout } = await import('shardwheel/timers');
assert.notStrictEqual(namespace.setTimeout, before.namespace.setTimeout);

const seen = [];
const set = setTimeout(() => seen.push('set before'), 30);
const kept = setTimeout;
const slept = promises.setTimeout(20, 'slept').then((value) => seen.push(value));
const cleared = setTimeout(() => seen.push('never'), 1);
const interval = setInterval(() => seen.push('never'), 1);
assert.ok(set instanceof Timeout);
unregister();

const after = properties();
for (const [name, was] of Object.entries(before)) {
  for (const key of Reflect.ownKeys(Object(was)))
    assert.deepStrictEqual(after[name][key], was[key], `${name}.${String(key)}`);
}
assert.strictEqual(after.promisify, before.promisify);
assert.ok(!(Symbol.for('shardwheel.registration') in globalThis));
clearTimeout(cleared);
clearInterval(interval);
assert.ok(!(kept(() => seen.push('by a kept function'), 1) instanceof Timeout));
assert.ok(!(setTimeout(() => undefined, 1) instanceof Timeout));
assert.strictEqual(createRequire(import.meta.url)('timers').setTimeout, setTimeout);
await slept;
await new Promise((resolve) => setTimeout(resolve, 60));
process.stdout.write(JSON.stringify(seen.sort()));
